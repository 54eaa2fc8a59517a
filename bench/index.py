"""What the index of code costs: empty, unchanged and after one edit, beside a bare parse and a bare walk.

    python bench/index.py TREE [--rounds N]

TREE is unpacked source, of Django say (`pip download --no-binary :all: --no-deps django`). It is copied first. Every contestant
runs in a process of its own, in turns; its imports are not counted.
"""

import argparse
import ast
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

from publish import write_results

SETTLED = 2.5
"""Seconds after which a file that was just written is no longer looked at twice."""
PAIRS = {"cold beside a bare parse": ("cold ours", "cold parse"), "unchanged beside a bare walk": ("same ours", "same walk")}
Spent = dict[str, float]


def update_index(root: Path, state: Path) -> int:
    """A walk of the tree, what changed read and understood, all of it kept in the store."""
    from afresh.code.index.code_index import refresh_code_index
    from afresh.storage.sqlite.code_index import SqliteCodeIndex
    from afresh.workspace.checkout_files import CheckoutFiles

    store = SqliteCodeIndex(state / "code.db")
    code = refresh_code_index(CheckoutFiles(root), str(root), store)
    store.close()
    return len(code.files)


def parse_files(root: Path, state: Path) -> int:
    """Every Python file read and parsed by `ast`, the trees thrown away."""
    files = [Path(place) / name for place, _, names in os.walk(root) for name in names if name.endswith(".py")]
    for path in files:
        with suppress(SyntaxError):
            ast.parse(path.read_bytes())
    return len(files)


def walk_files(root: Path, state: Path) -> int:
    """A bare walk that asks the state of every file."""
    count, waiting = 0, [str(root)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    count += 1
    return count


TASKS = {"ours": update_index, "parse": parse_files, "walk": walk_files}


def measure_task(name: str, root: Path, state: Path) -> Spent:
    """In this process: time of the processor and of the clock after the imports, and the most memory that it ever had."""
    from afresh.code.languages.registry import load_language

    load_language("python")
    clock, processor = time.perf_counter(), read_processor()
    files = TASKS[name](root, state)
    spent = {"cpu": read_processor() - processor, "wall": time.perf_counter() - clock, "files": float(files)}
    return {**spent, "peak": float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)}


def read_processor() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


class Ring:
    """What each contestant has spent, by situation."""

    def __init__(self, tree: Path, state: Path) -> None:
        self.tree, self.state = tree, state
        self.spent: dict[str, list[Spent]] = {}

    def run(self, situation: str, task: str) -> None:
        command = [sys.executable, __file__, str(self.tree), "--task", task, "--state", str(self.state)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        self.spent.setdefault(f"{situation} {task}", []).append(json.loads(done.stdout))

    def forget(self) -> None:
        shutil.rmtree(self.state, ignore_errors=True)
        self.state.mkdir()

    def middle(self, name: str, what: str) -> float:
        return median(one[what] for one in self.spent[name])

    def summary(self) -> dict[str, Any]:
        return {name: {what: self.middle(name, what) for what in ("cpu", "wall", "peak", "files")} for name in sorted(self.spent)}


def run_rounds(ring: Ring, number: int, changed: Path) -> None:
    for turn in range(number):
        time.sleep(SETTLED)
        ring.forget()
        for situation, task in (("cold", "ours"), ("cold", "parse"), ("same", "ours"), ("same", "walk")):
            ring.run(situation, task)
        before = changed.read_text("utf-8")
        changed.write_text(f"{before}\n# turn {turn}\ndef turned_{turn}(value):\n    return value\n", "utf-8")
        ring.run("changed", "ours")
        changed.write_text(before, "utf-8")


def choose_file(tree: Path) -> Path:
    by_size = sorted(tree.rglob("*.py"), key=lambda file: file.stat().st_size)
    return by_size[len(by_size) * 3 // 4]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--task", choices=TASKS, help=argparse.SUPPRESS)
    parser.add_argument("--state", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.task:
        return print(json.dumps(measure_task(given.task, given.tree, given.state)))
    with tempfile.TemporaryDirectory() as name:
        ring = Ring(Path(name) / "tree", Path(name) / "state")
        shutil.copytree(given.tree, ring.tree, symlinks=True)
        run_rounds(ring, given.rounds, choose_file(ring.tree))
        result: dict[str, Any] = {"rounds": given.rounds, "spent": ring.summary()}
        ratios = {each: ring.middle(ours, "cpu") / ring.middle(other, "cpu") for each, (ours, other) in PAIRS.items()}
        result["beside"] = ratios
    for situation, spent in result["spent"].items():
        print(f"{situation}: {spent['cpu']:.3f} s CPU, {spent['wall']:.3f} s, {spent['peak'] / 1e6:.0f} MB")
    for each, one in result["beside"].items():
        print(f"{each}: {one:.2f} ×")
    write_results("index", result)
    return None


if __name__ == "__main__":
    main()
