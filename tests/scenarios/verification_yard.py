"""A small project in a folder, with plain stand-ins for the ports that verification uses: real files, real processes."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path
from typing import Any

from warm_pytest import warm_command

from afresh.core.action import CommandRun
from afresh.core.archived_block import Block
from afresh.core.change import Change
from afresh.core.event import JournalEntry, WorkspaceOpened
from afresh.core.state import State
from afresh.core.task import Check, Task
from afresh.core.verdict import Baseline, Verdict
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import FileTree
from afresh.sandbox.toolchain_folders import make_toolchain_variables
from afresh.verification import checks
from afresh.verification import verify_step as judge
from afresh.verification.baseline import run_baseline_checks
from afresh.verification.completion import verify_completion
from afresh.verification.verify_step import verify_step
from support.fakes import EmptyInsight

PYTEST = f"{sys.executable} -m pytest -q"

SUMS = "def add(a, b):\n    return a + b\n\n\ndef half(a):\n    return a / 2\n"
TEST_ADD = (
    '"""Sums."""\nimport sums\n\nLIMIT = 3\n\n\ndef test_add():\n    """Adds."""\n    assert sums.add(1, 2) == LIMIT\n\n\n'
    "class TestMore:\n    def test_negative(self):\n        assert sums.add(-1, 1) == 0\n\n"
    "    def test_zero(self):\n        assert sums.add(0, 0) == 0\n"
)
TEST_HALF = "import sums\n\n\ndef test_half():\n    assert sums.half(4) == 2\n"
PROJECT = {
    "sums.py": SUMS,
    "tests/test_add.py": TEST_ADD,
    "tests/test_half.py": TEST_HALF,
    "tests/conftest.py": "import sys\nsys.path.insert(0, '.')\n",
}


@dataclass
class Shell:
    """Runs commands in the folder, unconfined; the whole group is killed at the time-out."""

    root: Path
    commands: list[str] = field(default_factory=list)
    level = "none"

    def run(self, command: str, timeout: float, reports: bool = False, **_: Any) -> CommandRun:
        self.commands.append(command)
        env = {"PATH": os.environ["PATH"], "HOME": str(self.root), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        env |= make_toolchain_variables()
        with tempfile.TemporaryDirectory() as folder:
            done = self._run(command, timeout, {**env, "AFRESH_REPORTS": folder})
            return replace(done, reports={path.name: path.read_text() for path in Path(folder).iterdir()})

    def _run(self, command: str, timeout: float, env: Mapping[str, str]) -> CommandRun:
        started = time.monotonic()
        process = subprocess.Popen(
            ["sh", "-c", warm_command(command)],
            cwd=self.root,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, late = process.communicate(timeout=timeout)[0], False
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, late = process.communicate()[0], True
        return CommandRun(command, process.returncode, output.decode(errors="replace"), time.monotonic() - started, late)


@dataclass
class Folder:
    """Files and Workspace of a folder; a snapshot is a copy in memory."""

    root: Path
    kept: dict[str, dict[str, bytes]] = field(default_factory=dict)

    def read(self, path: str) -> str:
        return (self.root / path).read_text()

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def paths(self) -> Sequence[str]:
        return sorted(self._tree())

    def stamps(self) -> Mapping[str, str]:
        return {path: data.hex() for path, data in sorted(self._tree().items())}

    def _tree(self) -> dict[str, bytes]:
        found = (path for path in self.root.rglob("*") if path.is_file() and not {"__pycache__", ".pytest_cache"} & {*path.parts})
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in found}

    def open(self) -> WorkspaceOpened:
        return WorkspaceOpened("base", "afresh/task", self.snapshot())

    def snapshot(self, whole: bool = False) -> str:
        tree = self._tree()
        name = sha256(repr(sorted(tree.items())).encode()).hexdigest()
        self.kept[name] = tree
        return name

    def restore(self, snapshot: str, paths: Sequence[str] = (), fresh: bool = False) -> None:
        wanted = self.kept[snapshot]
        for path in paths or {*wanted, *self._tree()}:
            (self.root / path).unlink(missing_ok=True)
            if path in wanted:
                (self.root / path).parent.mkdir(parents=True, exist_ok=True)
                (self.root / path).write_bytes(wanted[path])

    def changes(self, before: str, after: str) -> Sequence[Change]:
        old, new = self.kept[before], self.kept[after]
        return [_change(path, old.get(path), new.get(path)) for path in sorted({*old, *new}) if old.get(path) != new.get(path)]

    def read_files(self, snapshot: str, paths: Sequence[str]) -> Mapping[str, bytes]:
        return {path: data for path, data in self.kept[snapshot].items() if path in paths}

    def search(self, snapshot: str, words: Sequence[str]) -> Sequence[tuple[str, str]]:
        lines = [
            (path, line) for path, data in self.kept[snapshot].items() for line in data.decode(errors="replace").splitlines()
        ]
        return [(path, line) for path, line in lines if any(re.search(rf"\b{re.escape(word)}\b", line) for word in words)]

    def check_out(self, paths: Sequence[str]) -> Sequence[str]:
        return ()

    def publish(self, snapshot: str, message: str) -> str:
        return snapshot


def _change(path: str, old: bytes | None, new: bytes | None) -> Change:
    lines = list(unified_diff((old or b"").decode().splitlines(), (new or b"").decode().splitlines(), path, path, lineterm=""))
    kind = "added" if old is None else "deleted" if new is None else "modified"
    signs = [line[0] for line in lines[2:]]
    return Change(path, kind, signs.count("+"), signs.count("-"), "\n".join(lines))


@dataclass
class Archive:
    blocks: dict[str, str] = field(default_factory=dict)

    def keep(self, blocks: Iterable[Block]) -> None:
        self.blocks.update({block.id: block.text for block in blocks})

    def read(self, block: str) -> str:
        return self.blocks[block]

    def append(self, entries: Sequence[JournalEntry], blocks: Sequence[Block], state: State) -> None:
        self.keep(blocks)

    def load(self, task: str) -> State:
        raise NotImplementedError

    def journal(self, task: str) -> Iterable[JournalEntry]:
        raise NotImplementedError


@dataclass
class Known(EmptyInsight):
    """An insight that is told what to know. `measured` counts a word in the product's files."""

    tests: tuple[str, ...] = ()
    measured: str = ""

    def measure(self, state: State, files: FileTree) -> int:
        return sum(files.read(path).count(self.measured) for path in files.paths() if self.measured and path.endswith(".py"))

    def tests_for(self, changed: Sequence[str], files: FileTree) -> Sequence[str]:
        return self.tests


@dataclass
class Yard:
    folder: Folder
    shell: Shell
    context: ToolContext
    archive: Archive
    insight: Known

    def baseline(self) -> Baseline:
        """Take the baseline of the tree as it is, and begin the task there."""
        return self.begin(*run_baseline_checks(self.context))

    def begin(self, baseline: Baseline, blocks: tuple[Block, ...]) -> Baseline:
        self.archive.keep(blocks)
        opened = self.folder.open().snapshot
        state = replace(
            self.context.state,
            verification=replace(self.context.state.verification, baseline=baseline),
            workspace=replace(self.context.state.workspace, first_snapshot=opened, snapshot=opened),
        )
        self.context = replace(self.context, state=state)
        return baseline

    def change(self, path: str, old: str, new: str) -> None:
        text = self.folder.read(path)
        assert old in text
        self.folder.write(path, text.replace(old, new))

    def step(self, *changed: str) -> Verdict:
        verdict, blocks = verify_step(self.context, changed, self.folder, self.context.state.workspace.snapshot)
        self.archive.keep(blocks)
        return verdict

    def grade(self) -> Verdict:
        found = self.folder.snapshot()
        verdict, blocks = verify_completion(self.context, self.folder, judge.find_court_changes(self.context, self.folder))
        self.archive.keep(blocks)
        assert self.folder.snapshot() == found, "grading leaves the tree as it was"
        return verdict


def make_yard(
    root: Path, files: dict[str, str], *, checks: Sequence[str] = (PYTEST,), type: str = "implement_feature", timeout: int = 60
):
    folder, shell, archive, insight = Folder(root), Shell(root), Archive(), Known()
    for path, text in files.items():
        folder.write(path, text)
    task = Task(id="t", goal="g", type=type, checks=tuple(Check(command, timeout) for command in checks))
    context = ToolContext(State(task=task), folder, shell, archive, insight)  # type: ignore[arg-type]
    return Yard(folder, shell, context, archive, insight)


BASELINES: dict[tuple[object, ...], tuple[Baseline, tuple[Block, ...]]] = {}
"""Of projects that were begun, by their files and checks."""


def begin_alike(yard: Yard) -> Yard:
    """Begin the task with the baseline of an equal project, if one was taken by the same readers and left nothing in the tree."""
    found, task = yard.folder.stamps(), yard.context.state.task
    key = (tuple(found.items()), task.checks, task.type, checks.read_runner_reports, checks.read_printed_tests)
    if key in BASELINES:
        yard.begin(*BASELINES[key])
        return yard
    taken = run_baseline_checks(yard.context)
    left = [path for path in yard.folder.root.rglob("__pycache__/*") if path.suffix != ".pyc"]
    if not left and yard.folder.stamps() == found:
        BASELINES[key] = taken
    yard.begin(*taken)
    return yard


def begun(root: Path, files: dict[str, str], **options: Any) -> Yard:
    return begin_alike(make_yard(root, {**PROJECT, **files}, **options))


def impatient(yard: Yard, timeout: int) -> Yard:
    """The same task, whose checks may from now on take no longer than so many seconds."""
    task = yard.context.state.task
    return _with_task(yard, replace(task, checks=tuple(Check(one.command, timeout) for one in task.checks)))


def retyped(yard: Yard, type: str) -> Yard:
    """The same task, of another type."""
    return _with_task(yard, replace(yard.context.state.task, type=type))


def _with_task(yard: Yard, task: Task) -> Yard:
    return replace(yard, context=replace(yard.context, state=replace(yard.context.state, task=task)))
