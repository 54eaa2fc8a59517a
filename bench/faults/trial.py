"""A small repository with a fault in it, and a user who types commands; it can be put back to any state that was saved."""

import gc
import importlib
import json
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Thread
from typing import NoReturn

from afresh.cli.main import run_command_line
from faults.count import Unavailable, run_tool

SOURCE = str(Path(__file__).parents[2] / "src")
WRITES = "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,ftruncate,link,linkat,mkdir"
CALC = "def double(x):\n    return x + 2\n"
TEST = (
    "import unittest\nfrom calc import double\n\n\nclass T(unittest.TestCase):\n"
    "    def test_five(self):\n        self.assertEqual(double(5), 10)\n\n"
    "    def test_two(self):\n        self.assertEqual(double(2), 4)\n"
)
"""The first fails; the second passes until a change breaks it, which is then reverted."""
SCRIPT = (
    [("plan", {"items": ["read", "mend"]}), ("note", {"subject": "double", "text": "it adds"})],
    [("run", {"command": "ls; cat calc.py"})],
    [("edit", {"path": "calc.py", "old": "x + 2", "new": "x * 3"})],
    [("edit", {"path": "calc.py", "old": "x + 2", "new": "x * 2"})],
    [("complete", {"summary": "Multiply"})],
)
COMPACTING_SCRIPT = (
    [("run", {"command": "echo wide_reading; cat calc.py"})],
    [("run", {"command": "echo second_look"})],
    [("edit", {"path": "calc.py", "old": "x + 2", "new": "x * 2"})],
    [("note", {"subject": "compact", "text": "double is mended; only complete is left"})],
    [("complete", {"summary": "Multiply"})],
)
COMPACTION_POLICY = "compaction: {keep_steps: 1, keep_passages: 1, left: 0.1}\n"
RUN = ("run", "double is wrong", "--type", "fix_bug", "--no-sandbox", "--check", f"{sys.executable} -m unittest -q")
GIT_WRAPPER = """#!/bin/sh
read -r chosen call nth <{top}/git-kill
number=$(($(cat {top}/git-calls) + 1))
echo $number >{top}/git-calls
if [ "$chosen" = all ]; then exec strace -qq -o {top}/git-trace.$number -e trace={writes} {git} "$@"; fi
if [ "$chosen" = $number ]; then
  exec strace -o {top}/git-trace -e trace=$call -e inject=$call:signal=KILL:when=$nth {git} "$@"
fi
exec {git} "$@"
"""
"""As the first `git` on the path: counts its calls, and is killed in the one that `git-kill` names."""


LOADED_PACKAGES = (
    "afresh.app", "afresh.cli", "afresh.storage", "afresh.workspace", "afresh.actions", "afresh.verification", "afresh.context",
    "afresh.memory", "afresh.models", "afresh.outputs", "afresh.views", "afresh.spending", "afresh.code", "afresh.config",
    "afresh.sandbox", "rich",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command has said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL


class Trial:
    """Everything lies below `top/live`; what is saved is copied back to the same place, since worktrees know their paths."""

    def __init__(self, top: Path, compacting: bool = False) -> None:
        load_modules()
        self.top, self.live = top, top / "live"
        self.repo, self.home = self.live / "repo", self.live / "home"
        self.repo.mkdir(parents=True)
        self.home.mkdir()
        self.variables = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "PYTHONPATH": SOURCE, "GIT_CONFIG_NOSYSTEM": "1", "NO_COLOR": "1",
            "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@t", "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@t",
        }  # fmt: skip
        self.model = self._write_script(COMPACTING_SCRIPT if compacting else SCRIPT)
        self._fill_repository(compacting)

    def _write_script(self, script: Sequence[Sequence[tuple[str, object]]]) -> str:
        lines = [{"thought": "", "actions": [{"tool": tool, "args": args} for tool, args in reply]} for reply in script]
        (self.top / "script.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return f"scripted:{self.top / 'script.jsonl'}"

    def _fill_repository(self, compacting: bool) -> None:
        (self.repo / "calc.py").write_text(CALC)
        (self.repo / "test_calc.py").write_text(TEST)
        if compacting:
            (self.repo / ".afresh/templates").mkdir(parents=True)
            (self.repo / ".afresh/templates/fix_bug.yaml").write_text(COMPACTION_POLICY)
        for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "base"]):
            subprocess.run(["git", *arguments], cwd=self.repo, env=self.variables, check=True)

    @property
    def state(self) -> Path:
        return self.repo / ".afresh/state"

    def save(self, name: str) -> None:
        run_tool("cp", "-a", "--reflink=auto", str(self.live), str(self.top / name))

    def restore(self, name: str) -> None:
        shutil.rmtree(self.live)
        run_tool("cp", "-a", "--reflink=auto", str(self.top / name), str(self.live))

    def types(self, *arguments: str, kill_at: tuple[str, int] | None = None) -> Ended:
        """Run a command line in a child. With `kill_at` it is killed in the nth such call of the system; what it has started dies
        with it or ends by itself."""
        return self._run_child(arguments, name_kill(*kill_at) if kill_at else [])

    def trace_writes(self, *arguments: str) -> list[tuple[str, int]]:
        """The writes that an undisturbed command makes in its own process: each call, and the how manieth of its name it is."""
        log = self.top / "trace"
        self._run_child(arguments, ["-o", str(log), "-e", f"trace={WRITES}"])
        return read_calls(log)

    def _run_child(self, arguments: Sequence[str], strace: Sequence[str]) -> Ended:
        out, err = self.top / "out", self.top / "err"
        child = os.fork()
        if not child:
            become_command(arguments, self.repo, self.variables, (out, err), stopped=bool(strace))
        if strace:
            attach_strace(child, strace)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return Ended(code, out.read_text("utf-8", "replace"), err.read_text("utf-8", "replace"))

    def wrap_git(self, number: int | str, call: str = "none", nth: int = 0) -> None:
        """From now on the git with this number is killed in the nth such call of the system; `all`: all are traced."""
        program, folder = shutil.which("git"), self.top / "bin"
        if program is None:
            raise Unavailable("git is not installed")
        folder.mkdir(exist_ok=True)
        wrapper = folder / "git"
        wrapper.write_text(GIT_WRAPPER.format(top=self.top, writes=WRITES, git=program))
        wrapper.chmod(0o755)
        (self.top / "git-kill").write_text(f"{number} {call} {nth}\n")
        (self.top / "git-calls").write_text("0\n")
        self.variables["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"

    def unwrap_git(self) -> None:
        self.variables["PATH"] = os.environ["PATH"]

    def git(self, *arguments: str) -> str:
        command = [shutil.which("git") or "git", *arguments]
        return subprocess.run(command, cwd=self.repo, env=self.variables, capture_output=True, text=True).stdout


def become_command(
    arguments: Sequence[str], folder: Path, variables: Mapping[str, str], said: tuple[Path, Path], stopped: bool
) -> NoReturn:
    """In a child: the command line, as if it had been started by itself, with all modules loaded already."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in enumerate(said, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
    if stopped:
        os.kill(os.getpid(), signal.SIGSTOP)
    code = 1
    try:
        code = run_command_line(list(arguments))
        sys.stdout.flush()
    finally:
        os._exit(code)


def attach_strace(child: int, options: Sequence[str]) -> None:
    """To a child that has stopped itself; it goes on when strace watches."""
    os.waitpid(child, os.WUNTRACED)
    watching = subprocess.Popen(["strace", *options, "-p", str(child)], stderr=subprocess.PIPE)
    assert watching.stderr is not None
    watching.stderr.readline()  # "Process … attached"
    os.kill(child, signal.SIGCONT)
    Thread(target=watching.communicate, daemon=True).start()


@cache
def load_modules() -> None:
    """What commands import on their way is imported once, for all children."""
    for name in LOADED_PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
            with suppress(ImportError):
                importlib.import_module(module.name)
    gc.freeze()


def name_kill(call: str, nth: int) -> list[str]:
    """Options of strace, which counts the calls of each name by themselves."""
    return ["-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={nth}"]


def read_calls(trace: Path) -> list[tuple[str, int]]:
    seen, calls = Counter[str](), list[tuple[str, int]]()
    for line in trace.read_text(errors="replace").splitlines():
        name = line.partition("(")[0]
        if name in WRITES.split(","):
            seen[name] += 1
            calls.append((name, seen[name]))
    return calls
