"""What a newcomer meets in the source: its size, its names, its shapes, and how much code one step runs.

  .venv/bin/python bench/house.py [SRC] [--before] [--write FILE]

SRC is a folder `afresh` of any commit (default: src/afresh), so that two commits can be put side by side: measure the older one
with --before. The figures go to bench/results/house.json; --write puts the table between the markers of a Markdown file.
"""

import argparse
import ast
import contextlib
import importlib
import importlib.util
import io
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from types import FrameType

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench/results/house.json"
GATES = ROOT / "tests/test_architecture.py"
BEGIN = "<!-- figures: bench/house.py --write -->"
END = "<!-- end of figures -->"
NOT_OURS = {"sample", "sample_runs"}
"""Package data to try afresh on."""
SMALL_FILE_LINES = 40
TRACED_STEP = 2
"""Of the task below: the first one is reverted, the second one is kept."""
STEP_FUNCTIONS = ("ask_model", "take_step")
"""Of loop.py: together they are one step, and the second one ends it."""
LISTED_TASKS = 5
LIST_RUNS = 7
GOAL = "Lower the complexity of price in src/parcel/pricing.py"
ORDER = (GOAL, "--type", "fix_violation", "--check", "python -m pytest -q", "--model", "offline")
START = "from afresh.cli.main import main; main()"

IRREGULAR_PARTICIPLES = (
    "begun bent borne bought bound broken brought built caught chosen dealt done drawn driven fallen fed felt forgotten fought found "
    "frozen given gone grown heard held hidden hung kept known laid led left lent lit lost made meant met paid proven rebuilt risen "
    "said seen sent shaken shot shown sold sought spent spoken stolen stood struck stuck sunk taken taught thought thrown told torn "
    "undone understood withdrawn withheld won wound worn woven written"
)
NO_PARTICIPLES = "bring embed exceed feed need ping proceed ring seed sing speed spring string"
OLD_EXPRESSIONS = {
    "engine/view.py": ("NUMBER", "CHANGED", "SUBJECT"),
    "engine/recall.py": ("PLACE",),
    "engine/whole.py": ("LISTED", "NUMBERED", "PLACE"),
    "engine/learn.py": ("SHOWN",),
    "engine/parts.py": ("NUMBERED",),
    "engine/page.py": ("STUB", "NUMBERED"),
    "engine/work.py": ("NUMBERED", "BEFORE", "COUNTED", "EXCERPT", "TOLD", "PLAIN", "ECHO", "IDS"),
    "engine/history.py": ("STEP",),
    "engine/sections.py": ("a step's outcome",),
    "engine/why.py": ("HEADING", "a heading of a file"),
    "insight/python.py": ("a suggestion's id",),
}
"""Expressions of the tree before the rooms that read text of our own making: the same ones that the gate finds today."""


@dataclass(frozen=True)
class Source:
    tree: ast.Module
    lines: int


Sources = dict[PurePosixPath, Source]
Figures = dict[str, float]


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


# What is in the files


def read_sources(src: Path) -> Sources:
    paths = [PurePosixPath(file.relative_to(src).as_posix()) for file in sorted(src.rglob("*.py"))]
    texts = {path: (src / path).read_text("utf-8") for path in paths if path.parts[0] not in NOT_OURS}
    return {path: Source(ast.parse(text), len(text.splitlines())) for path, text in texts.items()}


def classes_in(tree: ast.Module) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def is_bare_participle(name: str) -> bool:
    word = name.strip("_")
    if "_" in word or word in NO_PARTICIPLES.split():
        return False
    return word in IRREGULAR_PARTICIPLES.split() or bool(re.fullmatch(r"[a-z]+(?:ed|ing)", word))


def count_sizes(sources: Sources) -> Figures:
    small = [path for path, source in sources.items() if path.name != "__init__.py" and source.lines < SMALL_FILE_LINES]
    return {"lines": sum(source.lines for source in sources.values()), "modules": len(sources), "small_files": len(small)}


def count_names(sources: Sources) -> Figures:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    functions = [node.name for source in sources.values() for node in source.tree.body if isinstance(node, kinds)]
    participles = [name for name in functions if is_bare_participle(name)]
    files = Counter(name for source in sources.values() for name in {owner.name for owner in classes_in(source.tree)})
    return {
        "public_participles": sum(not name.startswith("_") for name in participles),
        "participles": len(participles),
        "shared_class_names": sum(count > 1 for count in files.values()),
    }


def count_packed_constants(sources: Sources) -> Figures:
    bodies = [owner.body for source in sources.values() for owner in (source.tree, *classes_in(source.tree))]
    packed = [
        node.targets[0].elts
        for body in bodies
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)
    ]
    return {"packed_constants": sum(map(len, packed)), "packed_statements": len(packed)}


def count_fields(sources: Sources) -> Figures:
    def fields_of(*names: str) -> int:
        """Of the class with one of these names; 0 if there is none."""
        owners = [owner for source in sources.values() for owner in classes_in(source.tree) if owner.name in names]
        return max((sum(isinstance(node, ast.AnnAssign) for node in owner.body) for owner in owners), default=0)

    return {"state_fields": fields_of("State"), "runtime_fields": fields_of("Runtime", "Agent")}


def module_name(path: PurePosixPath) -> str:
    inner = path.parent.parts if path.name == "__init__.py" else path.with_suffix("").parts
    return ".".join(("afresh", *inner))


def imported_names(node: ast.AST, path: PurePosixPath) -> list[str]:
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    package = ("afresh", *path.parent.parts)
    above = package[: len(package) - node.level + 1] if node.level else ()
    base = ".".join((*above, *([node.module] if node.module else [])))
    return [base, *(f"{base}.{name.name}" for name in node.names)]


def count_single_importers(sources: Sources) -> Figures:
    """A package's `__init__` has no place of its own in this count."""
    importers = {module_name(path): set[str]() for path in sources if path.name != "__init__.py"}
    for path, source in sources.items():
        for name in {name for node in ast.walk(source.tree) for name in imported_names(node, path)}:
            importers.get(name, set()).add(module_name(path))
    return {"one_importer": sum(len(users - {name}) == 1 for name, users in importers.items())}


def count_own_text_expressions(sources: Sources) -> Figures:
    """By the gate in tests/test_architecture.py, whether it lists them as exceptions or not."""
    if PurePosixPath("engine/loop.py") in sources:
        found = [(path, name) for path, names in OLD_EXPRESSIONS.items() for name in names]
    else:
        spec = importlib.util.spec_from_file_location("gates", GATES)
        assert spec and spec.loader
        gates = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(gates)
        found = [(path, wrong) for path, source in sources.items() for wrong in gates.no_own_text_is_parsed(path, source.tree)]
    return {"own_text_expressions": len(found), "own_text_files": len({path for path, _ in found})}


STATIC: tuple[Callable[[Sources], Figures], ...] = (
    count_sizes,
    count_names,
    count_own_text_expressions,
    count_packed_constants,
    count_fields,
    count_single_importers,
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
    """In this process: nothing of afresh may have been imported from elsewhere."""
    sys.path.insert(0, str(src.parent))
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
        for name in ("traced", "listed"):
            copy_sample(src, Path(folder) / name)
        with contextlib.chdir(Path(folder) / "listed"):
            listed = time_list()
        with contextlib.chdir(Path(folder) / "traced"):
            return listed | trace_step(src)


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
    sources = read_sources(src)
    figures = {name: value for count in STATIC for name, value in count(sources).items()} | measure_running(src)
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    results["before" if asked.before else "after"] = figures
    RESULTS.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    table = draw_table(results.get("before", {}), results.get("after", {}))
    if page:
        put_between_markers(page, table)
    print(table)


if __name__ == "__main__":
    main()
