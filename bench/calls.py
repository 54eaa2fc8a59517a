"""Who calls whom: what reading finds beside what happens when a package's own tests run, and beside jedi and PyCG.

    python bench/calls.py ROOT=PACKAGE_FOLDER [ROOT=PACKAGE_FOLDER …] [--peers] [--folder DIR] [--sample N] [--needs NAME …]
        [--json FILE]

ROOT holds a source tree with its tests; PACKAGE_FOLDER is the package within it, as `src/click`. The tests run under a profiler
that writes down every (calling function, line, called function) within the package; then each called function's callers are asked
for. Needs the network once (pip) for pytest and the peers.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

from afresh.domain.calls import Call, Way
from afresh.domain.code import Place
from afresh.insight.calls import callers
from afresh.insight.code import Code, code_of
from environments import environment

PATIENCE = 300
"""Seconds for a peer that may never come to an end."""
RESULTS = Path(__file__).parent / "results" / "calls.json"
PLUGIN = """
import atexit, json, os, sys, threading

ROOT, INNER, INTO = os.environ["CALLS_ROOT"], os.environ["CALLS_INNER"], os.environ["CALLS_INTO"]
GENERATOR, OPTIMIZED = 0x20 | 0x80 | 0x200, 0x1
seen = set()


def profile(frame, event, arg, ROOT=ROOT, INNER=INNER, seen=seen):
    if event != "call":
        return
    code = frame.f_code
    if not code.co_filename.startswith(INNER) or not code.co_flags & OPTIMIZED or code.co_flags & GENERATOR:
        return
    back = frame.f_back
    if back is not None and back.f_code.co_filename.startswith(ROOT):
        seen.add((back.f_code.co_filename, back.f_code.co_qualname, back.f_lineno, code.co_filename, code.co_qualname))


def write():
    sys.setprofile(None)
    with open(INTO, "w") as file:
        json.dump(sorted(seen), file)


atexit.register(write)
sys.setprofile(profile)
threading.setprofile(profile)
"""
Pair = tuple[str, str, str, str]
"""Path and name of who calls, path and name of what is called."""


@dataclass
class Tree:
    """A folder as the port `Files`."""

    root: Path

    def read(self, path: str) -> str:
        return (self.root / path).read_text("utf-8", errors="replace")

    def write(self, path: str, text: str) -> None:
        raise OSError("only looked at")

    def paths(self) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*.py"))

    def stamps(self) -> dict[str, str]:
        return dict.fromkeys(self.paths(), "")


@dataclass
class Happened:
    pairs: set[Pair] = field(default_factory=set)
    at: dict[tuple[str, int], set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    """What each line was seen to call."""


def qualified(name: str) -> str:
    """Without the parts that have no name of their own."""
    parts = [part for part in name.split(".") if not part.startswith("<")]
    return ".".join(parts)


def traced(root: Path, inner: str, python: str, kept: Path) -> Happened:
    """A trace that was kept is used again: it is the tests that take long."""
    if not kept.exists():
        kept.write_text(json.dumps(profiled(root, inner, python)))
    return happened_in(root, json.loads(kept.read_text()))


def profiled(root: Path, inner: str, python: str) -> list[Any]:
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch, "calls_plugin.py").write_text(PLUGIN)
        into = Path(scratch, "calls.json")
        path = os.pathsep.join([scratch, str((root / inner).parent)])
        where = {"CALLS_ROOT": f"{root}/", "CALLS_INNER": f"{root / inner}/", "CALLS_INTO": str(into)}
        command = [
            python,
            "-m",
            "pytest",
            "-q",
            "--continue-on-collection-errors",
            "-p",
            "calls_plugin",
            "-p",
            "no:cacheprovider",
            "tests",
        ]
        done = subprocess.run(command, cwd=root, env={**os.environ, **where, "PYTHONPATH": path}, capture_output=True, text=True)
        print(f"  {(done.stdout.strip().splitlines() or [done.stderr[-200:]])[-1]}", file=sys.stderr)
        return json.loads(into.read_text())


def happened_in(root: Path, events: list[Any]) -> Happened:
    found = Happened()
    for here, caller, line, there, called in events:
        if "<lambda>" in called.split(".")[-1] or "<" in called.split(".")[-1]:
            continue
        paths = [str(Path(each).relative_to(root)) for each in (here, there)]
        found.pairs.add((paths[0], qualified(caller), paths[1], qualified(called)))
        found.at[paths[0], line].add((paths[1], qualified(called)))
    return found


def place(code: Code, path: str, name: str) -> Place | None:
    if path not in code.files:
        return None
    held = [symbol for symbol in code.reading(path).symbols if symbol.name == name]
    return Place(path, held[-1]) if held else None


@dataclass
class Ours:
    sure: set[Pair] = field(default_factory=set)
    all: set[Pair] = field(default_factory=set)
    calls: list[Call] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    cut: int = 0


def ours(code: Code, called: set[tuple[str, str]]) -> Ours:
    found = Ours()
    for path, name in sorted(called):
        target = place(code, path, name)
        if target is None:
            continue
        started = time.process_time()
        answer = callers(code, target)
        found.seconds.append(time.process_time() - started)
        found.cut += answer.cut or bool(answer.unread)
        for call in answer:
            if call.kind is Way.IMPORT:
                continue
            pair = (call.path, call.within, path, name)
            found.all.add(pair)
            found.calls.append(call)
            if call.sure:
                found.sure.add(pair)
    return found


def contradicted(code: Code, happened: Happened, calls: list[Call]) -> tuple[int, int, list[str]]:
    """Sure calls on lines that were seen to call something of that name in the package: how many there are, and those where it
    was never the one that was meant."""
    looked, wrong = 0, []
    for call in calls:
        if not call.sure or call.kind is not Way.CALL:
            continue
        short = call.target.symbol.short
        seen = {each for each in happened.at.get((call.path, call.line), ()) if each[1].rpartition(".")[2] == short}
        if seen:
            looked += 1
            if (call.target.path, call.target.symbol.name) not in seen:
                wrong.append(f"{call.path}:{call.line} {call.text} → {call.target.symbol.name}, ran {sorted(seen)}")
    return looked, len(wrong), wrong


JEDI = """
import ast, json, sys, time
import jedi

root, files = sys.argv[1], json.loads(sys.stdin.read())
project = jedi.Project(root, added_sys_path=[sys.argv[2]], smart_sys_path=True)
pairs, started = set(), time.process_time()


def full(name):
    parts, each = [name.name], name.parent()
    while each is not None and each.type in ("function", "class"):
        parts.append(each.name)
        each = each.parent()
    return ".".join(reversed(parts))


def scopes(node, around, found):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for each in child.decorator_list:
                scopes(ast.Expression(each), around, found)
                if not isinstance(each, ast.Call):
                    found.append((each, around))
            scopes(child, around + [child.name], found)
            continue
        if isinstance(child, ast.Call):
            found.append((child.func, around))
            found.extend((each, around) for each in child.args if isinstance(each, (ast.Name, ast.Attribute)))
        scopes(child, around, found)


for path in files:
    source = open(f"{root}/{path}", encoding="utf-8").read()
    script = jedi.Script(source, path=f"{root}/{path}", project=project)
    found = []
    scopes(ast.parse(source), [], found)
    for node, around in found:
        if not isinstance(node, (ast.Name, ast.Attribute)):
            continue
        column = len(source.splitlines()[node.end_lineno - 1].encode()[: node.end_col_offset].decode()) - 1
        try:
            names = script.goto(node.end_lineno, column, follow_imports=True)
            names += [each for each in script.infer(node.end_lineno, column) if each not in names]
        except Exception:
            continue
        for name in names:
            if not str(name.module_path).startswith(root + "/") or name.type not in ("function", "class"):
                continue
            there = str(name.module_path)[len(root) + 1 :]
            try:
                called = full(name)
            except Exception:
                continue
            pairs.add((path, ".".join(around), there, called))
            if name.type == "class":
                pairs.add((path, ".".join(around), there, called + ".__init__"))
json.dump({"pairs": sorted(pairs), "seconds": time.process_time() - started}, sys.stdout)
"""


def jedis(root: Path, inner: str, files: list[str], python: str) -> tuple[set[Pair], float]:
    command = [python, "-c", JEDI, str(root), str((root / inner).parent)]
    done = subprocess.run(command, input=json.dumps(files), capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    return {tuple(pair) for pair in answer["pairs"]}, answer["seconds"]


def pycgs(root: Path, inner: str, files: list[str], python: str) -> tuple[set[Pair], float]:
    """PyCG names by modules, those of relative imports without their package; its calls of a class are calls of `__init__`. It is
    installed under a name that it does not import itself by."""
    above = (root / inner).parent
    within = [path for path in files if path.startswith(f"{inner}/")]
    script = (
        "import json, sys, time\nimport PyCG\nsys.modules['pycg'] = PyCG\n"
        "from pycg.pycg import CallGraphGenerator\nstarted = time.process_time()\n"
        "made = CallGraphGenerator(sys.argv[2:], sys.argv[1], -1, 'call-graph')\nmade.analyze()\n"
        "graph = {k: sorted(v) for k, v in made.output().items()}\n"
        "json.dump({'graph': graph, 'seconds': time.process_time() - started}, sys.stdout)"
    )
    paths = [str(root / path) for path in within]
    done = subprocess.run([python, "-c", script, str(above), *paths], capture_output=True, text=True, cwd=above, timeout=PATIENCE)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["failed"])[-1][:160])
    answer = json.loads(done.stdout)
    modules = {str((root / path).relative_to(above))[:-3].replace("/", ".").removesuffix(".__init__"): path for path in within}
    modules |= {name.partition(".")[2]: path for name, path in modules.items() if "." in name}

    def named(name: str) -> tuple[str, str] | None:
        parts = name.split(".")
        for at in range(len(parts), 0, -1):
            if (module := ".".join(parts[:at])) in modules:
                return modules[module], re.sub(r"\.?<lambda\d*>", "", ".".join(parts[at:]))
        return None

    edges = ((named(caller), named(called)) for caller, many in answer["graph"].items() for called in many)
    return {(*caller, *called) for caller, called in edges if caller and called}, answer["seconds"]


def share(found: set[Pair], happened: set[Pair]) -> float:
    return round(100 * len(found & happened) / len(happened), 1) if happened else 0.0


def special(pair: Pair) -> bool:
    last = pair[3].rpartition(".")[2]
    return last.startswith("__") and last.endswith("__") and last != "__init__"


def measured(root: Path, inner: str, options: argparse.Namespace) -> dict[str, Any]:
    print(root.name, file=sys.stderr)
    python = environment(options.folder, "calls", ["pytest", "jedi", "pycg", "setuptools<81", *options.needs])
    happened = traced(root, inner, python, options.folder / f"calls-{root.name}.json")
    started = time.process_time()
    code = code_of(Tree(root))
    opened = time.process_time() - started
    known = {pair for pair in happened.pairs if place(code, pair[2], pair[3]) and pair[0] in code.files}
    own = {pair for pair in known if pair[0].startswith(f"{inner}/")}
    mine = ours(code, {pair[2:] for pair in known})
    looked, wrong, lines = contradicted(code, happened, mine.calls)
    row: dict[str, Any] = {
        "package": root.name, "pairs": len(own), "pairs with tests": len(known), "not of a symbol": len(happened.pairs - known),
        "sure": share(mine.sure, own), "all": share(mine.all, own),
        "sure, written out": share(mine.sure, {pair for pair in own if not special(pair)}),
        "all, written out": share(mine.all, {pair for pair in own if not special(pair)}),
        "sure with tests": share(mine.sure, known), "all with tests": share(mine.all, known),
        "edges sure": len(mine.sure), "edges by name": len(mine.all - mine.sure),
        "by name that happened": len((mine.all - mine.sure) & known),
        "sure that could be checked": looked, "contradicted": wrong, "cut off": mine.cut,
        "seconds to read": round(opened, 2), "seconds a question": round(sum(mine.seconds) / max(1, len(mine.seconds)), 3),
        "longest question": round(max(mine.seconds, default=0), 2), "questions": len(mine.seconds),
    }  # fmt: skip
    if options.missing:
        for pair in sorted(own - mine.all)[: options.missing]:
            print("  missed", *pair, file=sys.stderr)
        for line in lines[: options.missing]:
            print("  contradicted", line, file=sys.stderr)
    if options.sample:
        chosen = random.Random(5).sample([call for call in mine.calls if call.sure], options.sample)
        for call in chosen:
            print(f"  {call.path}:{call.line} {call.text} → {call.target.path} {call.target.symbol.name}", file=sys.stderr)
    if options.peers:
        row["peers"] = peers(root, inner, python, code, known, own)
    return row


def peers(root: Path, inner: str, python: str, code: Code, known: set[Pair], own: set[Pair]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    files = sorted({pair[0] for pair in known})
    for name, ask in (("jedi", jedis), ("PyCG", pycgs)):
        try:
            pairs, seconds = ask(root, inner, [path for path in files if path.startswith(f"{inner}/")], python)
        except (RuntimeError, subprocess.SubprocessError, OSError) as fault:
            found[name] = {"fault": str(fault)[:200]}
            continue
        written = {pair for pair in own if not special(pair)}
        found[name] = {"all": share(pairs, own), "written out": share(pairs, written), "seconds": round(seconds, 1)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trees", nargs="+", metavar="ROOT=PACKAGE_FOLDER")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "afresh-bench-environments")
    parser.add_argument("--needs", nargs="*", default=[], help="what the tests need besides pytest")
    parser.add_argument("--peers", action="store_true", help="also jedi and PyCG, which takes minutes")
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--sample", type=int, default=0, help="print some sure calls, to be judged by eye")
    parser.add_argument("--missing", type=int, default=0, help="print some that were missed or contradicted")
    options = parser.parse_args()
    rows = []
    for tree in options.trees:
        root, _, inner = tree.partition("=")
        rows.append(measured(Path(root).resolve(), inner, options))
        print(json.dumps(rows[-1], indent=1))
        options.json.write_text(json.dumps({"python": sys.version.split()[0], "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
