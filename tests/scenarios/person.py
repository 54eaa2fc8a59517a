"""A person at the command line, with a small repository that has a bug."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afresh.cli import main
from afresh.workspace.repository import Repository
from afresh.workspace.worktree_location import find_worktrees_folder

SOURCE = str(Path(main.__file__).parents[2])
CHECK = f"{sys.executable} -m unittest -v"
SHELL_CHECK = r"grep -q 'x [*] 2\|2 [*] x\|x << 1' calc.py"
CALC = "def double(x):\n    return x + 2\n"
TEST = (
    "import unittest\n\nfrom calc import double\n\n\nclass T(unittest.TestCase):\n"
    "    def test_two(self):\n        self.assertEqual(double(2), 4)\n\n"
    "    def test_five(self):\n        self.assertEqual(double(5), 10)\n"
)
Step = tuple[str, Mapping[str, Any]]
MEND: Step = ("edit", {"path": "calc.py", "old": "x + 2", "new": "x * 2"})
COMPLETE: Step = ("complete", {"summary": "Multiply instead of adding\n\nIt added two."})


@dataclass(frozen=True)
class Told:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """Warnings may come before it."""
        return json.loads(self.err.splitlines()[-1])["error"]

    @property
    def words(self) -> str:
        """All that was said, however it was wrapped."""
        return " ".join((self.out + self.err).split())


def run_in_process(args: Sequence[str], folder: Path) -> Told:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main.run_command_line(args)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    assert "Traceback" not in err.getvalue()
    return Told(code, out.getvalue(), err.getvalue())


@dataclass(frozen=True)
class Person:
    folder: Path
    check: str = CHECK
    """What their tasks are judged by, where they say nothing else."""

    @property
    def repo(self) -> Path:
        return self.folder / "repo"

    @property
    def state(self) -> Path:
        return self.repo / ".afresh" / "state"

    @property
    def trees(self) -> Path:
        """Where the worktrees of tasks are."""
        return find_worktrees_folder(Repository.find(self.repo))

    def write(self, path: str, text: str | bytes) -> None:
        target = self.repo / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())

    def git(self, *args: str) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@t")
        done = subprocess.run(["git", *identity, *args], cwd=self.repo, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, message: str = "base") -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", message)

    def script(self, *replies: list[Step], name: str = "script", review: Mapping[str, Any] | None = None) -> str:
        """A model that gives these replies, one a step, and this one to each review of a changed test."""
        path = self.folder / f"{name}.jsonl"
        lines: list[Any] = [
            {"thought": "", "actions": [{"tool": tool, "args": args} for tool, args in reply]} for reply in replies
        ]
        lines += [{"review": "", "asked": True, **review}] if review else []
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return f"scripted:{path}"

    def types(self, *args: str, at: str = "") -> Told:
        """A command line, in this process: what it prints and its exit code."""
        return run_in_process(args, self.repo / at)

    def starts(self, *args: str, program: Sequence[str] = ("-m", "afresh.cli.main"), **environment: str) -> subprocess.Popen[str]:
        """The same, as a process of its own."""
        variables = {**os.environ, "PYTHONPATH": SOURCE, "COLUMNS": "200", **environment}
        command = [sys.executable, *program, *args]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.repo, env=variables, stdout=pipe, stderr=pipe, text=True)

    def runs(self, model: str, *more: str, goal: str = "double is wrong", check: str | None = None) -> Told:
        wanted = self.check if check is None else check
        checks = ("--check", wanted) if wanted else ()
        return self.types("run", goal, "--type", "fix_bug", *checks, "--model", model, *more)

    def adds(self, goal: str = "double is wrong", *more: str) -> str:
        told = self.types("add", goal, "--type", "fix_bug", "--check", self.check, *more, "--json")
        assert told.code == 0, told.err
        return told.json["task"]

    def shown(self, *task: str) -> dict[str, Any]:
        return self.types("show", *task, "--json").json

    def finds_lessons(self, goal: str) -> list[tuple[str, float, str]]:
        """The lessons that a task with this goal would get: id, fit, text."""
        from afresh.app.memory.curate_lessons import search_project_lessons
        from afresh.app.project import open_project

        project = open_project(self.repo)
        try:
            return search_project_lessons(project, goal)
        finally:
            project.storage.close()

    def belongings(self) -> dict[str, Any]:
        """All of the user's: files, what is staged, HEAD and branches, without what is the task's."""
        files = {
            path.relative_to(self.repo).as_posix(): path.read_bytes()
            for path in self.repo.rglob("*")
            if path.is_file() and not {".git", ".afresh"} & {*path.relative_to(self.repo).parts}
        }
        refs = [line for line in self.git("for-each-ref").splitlines() if "refs/heads/afresh/" not in line]
        status = self.git("status", "--porcelain", "--", ".", ":!.afresh")
        return {"files": files, "refs": refs, "head": self.git("rev-parse", "HEAD"), "status": status}


def read_last_checkpoint(person: Person, task: str) -> str:
    return max((person.state / "checkpoints" / task).iterdir()).read_text()
