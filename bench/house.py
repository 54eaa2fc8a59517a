"""What a newcomer meets in the source: its size, its names, its shapes, and how much code one step runs.

  .venv/bin/python bench/house.py [SRC] [--before] [--write FILE]

SRC is a folder `afresh` of any commit (default: src/afresh), so that two commits can be put side by side: measure the older one
with --before. The figures go to bench/results/house.json; --write puts the table between the markers of a Markdown file.
"""

import argparse
import contextlib
import importlib
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from house_sources import Figures, measure_sources

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench/results/house.json"
BEGIN = "<!-- figures: bench/house.py --write -->"
END = "<!-- end of figures -->"
TRACED_STEP = 2
"""Of the task below: the first one is reverted, the second one is kept."""
STEP_FUNCTIONS = ("ask_model", "take_step")
"""Of loop.py: together they are one step, and the second one ends it."""
TRACED_RUNS = 3
"""The largest is taken: durations and ids that tools print count as tokens, so earlier steps may just fit or not."""
LISTED_TASKS = 5
LIST_RUNS = 7
GOAL = "Lower the complexity of price in src/parcel/pricing.py"
ORDER = (GOAL, "--type", "fix_violation", "--check", "python -m pytest -q", "--model", "offline?extract=yes")
START = "from afresh.cli.main import main; main()"


@dataclass(frozen=True)
class Row:
    """A line of the table: figures that belong together, and the most that each may be; None where there is no goal."""

    measure: str
    figures: tuple[str, ...]
    goals: tuple[float | None, ...]


ROWS = (
    Row("lines in src / modules", ("lines", "modules"), (50_000, 430)),
    Row("module functions named by a bare participle: public / all", ("public_participles", "participles"), (0, None)),
    Row("class names that exist in more than one file", ("shared_class_names",), (5,)),
    Row("expressions that parse our own text / files with one", ("own_text_expressions", "own_text_files"), (0, 0)),
    Row("constants packed in tuple assignments / such statements", ("packed_constants", "packed_statements"), (0, 0)),
    Row("fields of State / of Runtime (Agent)", ("state_fields", "runtime_fields"), (12, 12)),
    Row("files under 40 lines / modules with one importer", ("small_files", "one_importer"), (40, 90)),
    Row("functions that a kept step runs / files it passes", ("step_functions", "step_files"), (600, 110)),
    Row("`afresh list` with five tasks, CPU in seconds", ("list_cpu_seconds",), (0.15,)),
)


# What runs


class StepTrace:
    """Which functions of a source tree run in which step, by `sys.setprofile`; lambdas and comprehensions are part of theirs."""

    def __init__(self, src: Path) -> None:
        self.src = f"{src}{os.sep}"
        self.step = 1
        self.depth = 0
        self.seen: dict[int, set[tuple[str, str]]] = {}

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(self.src):
            return
        is_step = code.co_name in STEP_FUNCTIONS and code.co_filename.endswith("loop.py")
        if event == "call":
            self.depth += is_step
            if self.depth and not code.co_name.startswith("<"):
                self.seen.setdefault(self.step, set()).add((code.co_filename, code.co_qualname))
        elif is_step:
            self.depth -= 1
            self.step += code.co_name == STEP_FUNCTIONS[-1]


def copy_sample(src: Path, target: Path) -> None:
    shutil.copytree(src / "sample", target, ignore=shutil.ignore_patterns("__pycache__"))
    (target / "gitignore").rename(target / ".gitignore")
    identity = ["-c", "user.name=Parcel", "-c", "user.email=parcel@example.org"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], [*identity, "commit", "-q", "-m", "Parcel"]):
        subprocess.run(["git", *arguments], cwd=target, check=True, capture_output=True)


def trace_step(src: Path) -> Figures:
    """In this process, where `afresh` is the tree that is measured."""
    start = importlib.import_module("afresh.cli.main").main
    trace, sys.argv = StepTrace(src), ["afresh", "run", *ORDER, "--no-sandbox", "--quiet"]
    sys.setprofile(trace)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
            start()
    except SystemExit as end:
        if end.code:
            raise SystemExit(f"the traced task failed: {errors.getvalue()}") from end
    finally:
        sys.setprofile(None)
    if TRACED_STEP not in trace.seen:
        raise SystemExit(f"the traced task has no step {TRACED_STEP}: does loop.py still have {' and '.join(STEP_FUNCTIONS)}?")
    seen = trace.seen[TRACED_STEP]
    return {"step_functions": len(seen), "step_files": len({file for file, _ in seen})}


def run_afresh(*arguments: str) -> float:
    """CPU seconds of one command line, user and system."""
    before = os.times()
    subprocess.run([sys.executable, "-c", START, *arguments], check=True, capture_output=True)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def time_list() -> Figures:
    """The first run only warms up what is read from disk."""
    for number in range(LISTED_TASKS):
        run_afresh("add", f"{number}: {GOAL}", *ORDER[1:])
    runs = [run_afresh("list") for _ in range(LIST_RUNS + 1)]
    return {"list_cpu_seconds": round(statistics.median(runs[1:]), 2)}


def measure_running(src: Path) -> Figures:
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    os.environ["PYTHONPATH"] = str(src.parent)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's second run finds compiled modules
    with TemporaryDirectory(prefix="afresh-house-") as folder:
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "compiled")
        os.environ["XDG_DATA_HOME"] = str(Path(folder) / "data")
        os.environ["XDG_CONFIG_HOME"] = str(Path(folder) / "config")
        copy_sample(src, Path(folder) / "listed")
        with contextlib.chdir(Path(folder) / "listed"):
            listed = time_list()
        traced: list[Figures] = []
        for number in range(TRACED_RUNS):
            copy_sample(src, Path(folder) / f"traced{number}")
            with contextlib.chdir(Path(folder) / f"traced{number}"):
                traced.append(trace_step(src))
        return listed | max(traced, key=lambda figures: figures["step_functions"])


# What is told of it


def show_figures(row: Row, figures: Figures) -> str:
    return " / ".join(f"{figures[name]:,}" for name in row.figures) if figures else "–"


def show_goal(row: Row) -> str:
    return " / ".join("–" if goal is None else f"≤ {goal:,}" if goal else "0" for goal in row.goals)


def is_met(row: Row, figures: Figures) -> bool:
    return all(goal is None or figures[name] <= goal for name, goal in zip(row.figures, row.goals, strict=True))


def draw_table(before: Figures, after: Figures) -> str:
    lines = ["| | goal | before | after | met |", "|---|---:|---:|---:|---|"]
    for row in ROWS:
        met = "–" if not after else "yes" if is_met(row, after) else "**no**"
        lines.append(f"| {row.measure} | {show_goal(row)} | {show_figures(row, before)} | {show_figures(row, after)} | {met} |")
    return "\n".join(lines)


def put_between_markers(page: Path, table: str) -> None:
    head, begin, rest = page.read_text("utf-8").partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{page} needs the lines {BEGIN} and {END}")
    page.write_text(f"{head}{begin}\n\n{table}\n\n{end}{tail}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("src", nargs="?", type=Path, default=ROOT / "src/afresh")
    parser.add_argument("--before", action="store_true", help="These are the figures to compare with.")
    parser.add_argument("--write", type=Path, metavar="FILE", help="Put the table between this file's markers.")
    asked = parser.parse_args()
    src, page = asked.src.resolve(), asked.write and asked.write.resolve()
    sys.path.insert(0, str(src.parent))
    figures = measure_sources(src) | measure_running(src)
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    results["before" if asked.before else "after"] = figures
    RESULTS.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    table = draw_table(results.get("before", {}), results.get("after", {}))
    if page:
        put_between_markers(page, table)
    print(table)


if __name__ == "__main__":
    main()
