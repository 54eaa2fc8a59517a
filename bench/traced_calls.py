"""Which functions of a package call which, as seen while its own tests run under a profiler."""

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
        options = ["-q", "--continue-on-collection-errors", "-p", "calls_plugin", "-p", "no:cacheprovider", "tests"]
        command = [python, "-m", "pytest", *options]
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
