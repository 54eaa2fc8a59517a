"""Break the source on purpose, and see whether a test notices: `make mutants`.

`twins`: each row of `tests/twins.py` puts something in the place of a guard, and the test that it names must fail. `random`:
mutants of `ROOMS`, each against the tests that run its line, the quickest files first. Each is tried in a fork of the process
that has collected the tests, so what another process runs is whole.
"""

import argparse
import ast
import contextlib
import importlib
import inspect
import json
import math
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from _pytest.tmpdir import TempPathFactory

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "afresh"
ROOMS = {"verification": 5, "sandbox": 5, "spending": 3, "journal": 2}
"""Rooms whose mutants are tried, and how many of each fifteen."""
TESTS = ["verification", "journal", "spending", "sandbox", "attacks", "storage/sqlite"] + [
    f"scenarios/test_{name}.py"
    for name in (
        "verification", "grading", "red_before", "leave", "undone_steps", "reports", "evidence", "spend", "limits", "recovery",
        "damaged_state", "no_sandbox",
    )
]  # fmt: skip
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.Is: ast.IsNot, ast.In: ast.NotIn,
    ast.NotEq: ast.Eq, ast.GtE: ast.Lt, ast.LtE: ast.Gt, ast.IsNot: ast.Is, ast.NotIn: ast.In,
}  # fmt: skip
LONGEST_TRIAL = 900.0
"""Seconds. A mutant that computes for ever is ended earlier, by its share of the processor."""
MISSED, NOTICED, UNSUITABLE = 0, 1, 3
Results = dict[str, tuple[str, float]]
"""Of each test, what became of it and the seconds it took."""
Lines = dict[str, set[tuple[str, int]]]
"""Of each test, the lines of the rooms that it runs, also while what it shares with its file is made."""
Items = Sequence[pytest.Item]
Work = Callable[[Path], int]


@dataclass(frozen=True, eq=False)
class Mutant:
    """A function with one thing changed."""

    room: str
    file: str
    function: str
    lines: range
    what: str
    change: Callable[[ast.FunctionDef], None]

    def __str__(self) -> str:
        return f"{self.file} {self.function}: {self.what}"

    def is_run_by(self, lines: set[tuple[str, int]]) -> bool:
        return any((str(SOURCE / self.file), line) in lines for line in self.lines)

    def apply(self) -> None:
        tree = ast.parse((SOURCE / self.file).read_text())
        self.change(next(node for name, node in find_functions(tree) if name == self.function))
        code = compile(ast.fix_missing_locations(tree), str(SOURCE / self.file), "exec")
        found: Any = importlib.import_module("afresh." + self.file.removesuffix(".py").replace("/", "."))
        for name in self.function.split("."):
            found = inspect.getattr_static(found, name)
            code = next(one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == name)
        found = getattr(found, "fget", None) or getattr(found, "__func__", found)
        inspect.unwrap(getattr(found, "func", found)).__code__ = code


def list_mutants(room: str, seed: int) -> list[Mutant]:
    """All of a room, in an order that depends on the seed and on the text of each alone."""
    keyed: list[tuple[str, Mutant]] = []
    for path in sorted((SOURCE / room).rglob("*.py")):
        file = path.relative_to(SOURCE).as_posix()
        for function, node in find_functions(ast.parse(path.read_text())):
            for index, (what, lines, change) in enumerate(list_changes(node)):
                key = sha256(f"{seed} {file} {function} {what} {index}".encode()).hexdigest()
                keyed.append((key, Mutant(room, file, function, lines, what, change)))
    return [mutant for _, mutant in sorted(keyed, key=lambda pair: pair[0])]


def find_functions(tree: ast.AST, within: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield within + node.name, node
        elif isinstance(node, ast.ClassDef) and not any("Protocol" in ast.unparse(base) for base in node.bases):
            yield from find_functions(node, f"{within}{node.name}.")


def list_changes(function: ast.FunctionDef) -> Iterator[tuple[str, range, Callable[[ast.FunctionDef], None]]]:
    """What can be changed, in which lines, and how in another copy of the function: a node is known by its place in `ast.walk`.
    Its signature stays: defaults are computed before the change.
    """

    def at(place: int, name: str, make: Callable[[Any], Any]) -> Callable[[ast.FunctionDef], None]:
        def change(copied: ast.FunctionDef) -> None:
            node = list(ast.walk(copied))[place]
            setattr(node, name, make(getattr(node, name)))

        return change

    lines = find_lines(function)
    for place, node in enumerate(ast.walk(function)):
        if node is not function and node not in lines:
            continue
        text = " ".join(ast.unparse(node).split())[:80] if isinstance(node, ast.expr | ast.stmt) else ""
        if isinstance(node, ast.Compare):
            yield f"turn {text}", lines[node], at(place, "ops", lambda ops: [OPPOSITE[type(ops[0])](), *ops[1:]])
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            shift = at(place, "value", lambda value: not value if isinstance(value, bool) else value + 1)
            yield f"shift {text}", lines[node], shift
        elif isinstance(node, ast.Return) and node.value is not None and text != "return None":
            yield f"return None, not {text}", lines[node], at(place, "value", lambda value: ast.Constant(None))
        for number, statement in enumerate(node.body if isinstance(node, ast.stmt) and hasattr(node, "body") else []):
            if isinstance(statement, ast.If | ast.Raise | ast.AugAssign | ast.Continue | ast.Break) or (
                isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
            ):
                yield (
                    f"delete {' '.join(ast.unparse(statement).split())[:80]}",
                    lines[statement],
                    at(place, "body", lambda body, number=number: [*body[:number], ast.Pass(), *body[number + 1 :]]),
                )


def find_lines(function: ast.FunctionDef) -> dict[ast.AST, range]:
    """Of each node of its body, the lines of the statement around it, without those of statements within."""
    lines: dict[ast.AST, range] = {}

    def walk(node: ast.AST, around: range) -> None:
        if isinstance(node, ast.stmt):
            within = [one for one in getattr(node, "body", []) if isinstance(one, ast.stmt)]
            end = within[0].lineno - 1 if within else node.end_lineno or node.lineno
            around = range(node.lineno, max(end, node.lineno) + 1)
        lines[node] = around
        for child in ast.iter_child_nodes(node):
            walk(child, around)

    for statement in function.body:
        walk(statement, range(0))
    return lines


def fork(works: Sequence[Work], jobs: int, hear: Callable[[int, int, Path], None]) -> None:
    """Do each work in a process of its own; hear its number, its exit code and its folder."""
    running: dict[int, tuple[int, Path, float]] = {}
    waiting = list(enumerate(works))
    while waiting or running:
        while waiting and len(running) < jobs:
            number, work = waiting.pop(0)
            folder = Path(tempfile.mkdtemp(prefix="afresh-mutant-"))
            if not (pid := os.fork()):
                work_in_fork(work, folder)
            running[pid] = number, folder, time.monotonic() + LONGEST_TRIAL
        for pid, (number, folder, end) in list(running.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended or time.monotonic() > end:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
                if not ended:
                    _, status = os.waitpid(pid, 0)
                del running[pid]
                hear(number, os.waitstatus_to_exitcode(status), folder)
                shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.02)


def work_in_fork(work: Work, folder: Path) -> None:
    code = UNSUITABLE
    try:
        os.setsid()
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
        words = os.open(folder / "words", os.O_CREAT | os.O_WRONLY)
        os.dup2(words, 1)
        os.dup2(words, 2)
        code = work(folder)
    except BaseException:
        traceback.print_exc()
    os._exit(code)


def run_tests(items: Items, folder: Path, after: Callable[[str], None] | None = None, limit: float = math.inf) -> Results:
    """Run them until one fails or they have taken the seconds of the processor; with `after`, which hears each test, all."""
    limit += sum(os.times()[:4])
    results: Results = {}
    places = TempPathFactory(folder / "pytest", 0, "all", lambda *_: None, _ispytest=True)
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config._tmp_path_factory = places  # type: ignore[attr-defined]
        started = time.monotonic()
        outcomes = [report.outcome for report in runtestprotocol(item, nextitem=following, log=False)]
        outcome = next((worst for worst in ("failed", "skipped") if worst in outcomes), "passed")
        results[item.nodeid] = outcome, time.monotonic() - started
        if after:
            after(item.nodeid)
        elif outcome == "failed" or sum(os.times()[:4]) > limit:
            break
    return results


def run_unbroken(items: Items, jobs: int) -> tuple[Results, Lines]:
    results: Results = {}
    lines: Lines = {}
    modules = list(dict.fromkeys(item.path for item in items))

    def hear(number: int, code: int, folder: Path) -> None:
        if not (noted := folder / "noted").exists():
            raise SystemExit(f"{modules[number]} ended with {code}:\n{(folder / 'words').read_text()}")
        for test, (outcome, seconds, ran) in json.loads(noted.read_text()).items():
            results[test], lines[test] = (outcome, seconds), {(file, line) for file, line in ran}

    def note(path: Path) -> Work:
        return lambda folder: note_lines([item for item in items if item.path == path], folder)

    fork([note(path) for path in modules], jobs, hear)
    return results, lines


def note_lines(items: Items, folder: Path) -> int:
    rooms = tuple(f"{SOURCE}/{room}/" for room in ROOMS)
    running, shared = set[tuple[str, int]](), set[tuple[str, int]]()
    lines: Lines = {}

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        return trace_line if frame.f_code.co_filename.startswith(rooms) else None

    def trace_line(frame: FrameType, event: str, arg: object) -> Any:
        running.add((frame.f_code.co_filename, frame.f_lineno))
        return trace_line

    def keep(test: str) -> None:
        lines[test] = set(running)
        running.clear()

    class Setup:
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_call(self) -> None:
            shared.update(running)

    items[0].config.pluginmanager.register(Setup())
    threading.settrace(trace)
    sys.settrace(trace)
    results = run_tests(items, folder, keep)
    sys.settrace(None)
    noted = {test: (*result, sorted(lines[test] | shared)) for test, result in results.items()}
    (folder / "noted").write_text(json.dumps(noted))
    return MISSED


def try_mutant(mutant: Any, items: Items, results: Results, seconds: float = math.inf) -> Work:
    """Run the tests against it, those of the quickest file first; the words begin with the one that notices it."""
    spent: dict[Path, float] = {}
    for item in items:
        spent[item.path] = spent.get(item.path, 0.0) + results[item.nodeid][1]

    def work(folder: Path) -> int:
        limit = int(60 + 10 * sum(spent.values()))
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        mutant.apply()
        outcomes = run_tests(sorted(items, key=lambda item: spent[item.path]), folder, limit=seconds)
        failed = [test for test, (outcome, _) in outcomes.items() if outcome == "failed"]
        (folder / "noticed").write_text("".join(failed))
        return NOTICED if failed else MISSED

    return work


def try_twins(items: Items, options: argparse.Namespace) -> int:
    """Return how many no test notices."""
    from twins import TWINS

    results, _ = run_unbroken(items, options.jobs)
    works, tried, wrong = list[Work](), list[str](), list[str]()
    for twin in TWINS:
        own = [item for item in items if item.nodeid == twin.node or item.nodeid.startswith(f"{twin.node}[")]
        outcomes = {results[item.nodeid][0] for item in own}
        if not own or "failed" in outcomes:
            wrong.append(f"{twin.node} is not there, or fails as it is")
        elif "passed" in outcomes:
            works.append(try_mutant(twin, own, results))
            tried.append(f"with another {twin.name}: {twin.node}")

    def hear(number: int, code: int, folder: Path) -> None:
        if code in (MISSED, UNSUITABLE):
            wrong.append(f"{'passes' if code == MISSED else (folder / 'words').read_text()[-600:]} {tried[number]}")

    fork(works, options.jobs, hear)
    print("\n".join([*wrong, f"twins: {len(TWINS)}, {len(tried)} tried here, {len(wrong)} not noticed"]))
    return len(wrong)


def try_random(items: Items, options: argparse.Namespace) -> int:
    """Return 1 if a smaller share is noticed than the least."""
    results, lines = run_unbroken(items, options.jobs)
    red = [test for test, (outcome, _) in results.items() if outcome == "failed"]
    print(
        f"{len(results)} tests, {sum(seconds for _, seconds in results.values()):.0f} s; red unbroken: {', '.join(red) or 'none'}"
    )
    parts = sum(ROOMS.values())
    mutants = [one for room, part in ROOMS.items() for one in list_mutants(room, options.seed)[: options.number * part // parts]]
    passed = [item for item in items if results[item.nodeid][0] == "passed"]
    able = {mutant: [item for item in passed if mutant.is_run_by(lines[item.nodeid])] for mutant in mutants}
    reached = [mutant for mutant in mutants if able[mutant]]
    random.Random(options.seed).shuffle(reached)
    missed = [mutant for mutant in mutants if not able[mutant]]

    def hear(number: int, code: int, folder: Path) -> None:
        word = {MISSED: "MISSED", NOTICED: "noticed", UNSUITABLE: "UNSUITABLE"}.get(code, "ended")
        noticed = folder / "noticed"
        print(word, reached[number], f"by {noticed.read_text()}" if code == NOTICED and noticed.exists() else "", flush=True)
        missed.extend([reached[number]] if code == MISSED else [])

    fork([try_mutant(mutant, able[mutant], results, options.seconds) for mutant in reached], options.jobs, hear)
    print("\n".join(f"NOT RUN {mutant}" for mutant in mutants if not able[mutant]))
    for room in ROOMS:
        of_room, lost = ([one for one in which if one.room == room] for which in (mutants, missed))
        uncalled = sum(not able[mutant] for mutant in lost)
        print(f"{room}: {len(of_room) - len(lost)} of {len(of_room)}; {uncalled} in lines that no test runs in its process")
    share = 100 * (1 - len(missed) / len(mutants))
    print(f"random mutants: {share:.0f} % of {len(mutants)} noticed; the same again: make mutants SEED={options.seed}")
    return int(share < options.least)


class Plugin:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        session.testsfailed += (try_twins if self.options.which == "twins" else try_random)(session.items, self.options)
        return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", choices=("twins", "random"))
    parser.add_argument("--number", type=int, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--least", type=int, default=0, help="fail below this share, in per cent")
    parser.add_argument("--seconds", type=float, default=20.0, help="of the processor, for the tests of one random mutant")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT / "tests"))
    paths = [f"tests/{one}" for one in TESTS if (ROOT / "tests" / one).exists()]
    if options.which == "twins":
        from twins import TWINS

        paths = sorted({twin.node for twin in TWINS})
    return int(pytest.main(["-q", "-s", "--no-header", "-p", "no:xdist", "-m", "not torture", *paths], plugins=[Plugin(options)]))


if __name__ == "__main__":
    sys.exit(main())
