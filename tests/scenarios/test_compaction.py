"""Compaction in whole runs: killed in the middle, asked for by the agent, stopped by the user's hook."""

import json
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from survived import drive, nothing_lost, same_windows

from afresh.app.inspect.inspect_calls import verify_calls
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import open_project
from afresh.app.settings import ProjectPaths, load_settings
from afresh.core.event import CallRequested, DecisionMade, MemoryCompacted
from afresh.core.task import TaskStatus
from afresh.errors import BadInput

POLICY = "compaction: {keep_steps: 1, keep_passages: 1, left: 0.1}\n"
SCRIPT = [
    [("run", {"command": "echo wide_reading; cat numbers_.py"})],
    [("run", {"command": "echo second_look"})],
    [("edit", {"path": "numbers_.py", "old": "x + 2", "new": "x * 2"})],
    [("note", {"subject": "compact", "text": "double is mended; only complete is left"})],
    [("complete", {"summary": "Double instead of adding"})],
]


def made(folder: Path) -> tuple[Path, str]:
    repo = folder / "repo"
    (repo / ".afresh/templates").mkdir(parents=True)
    (repo / ".afresh/templates/fix_bug.yaml").write_text(POLICY)
    (repo / "numbers_.py").write_text("def double(x):\n    return x + 2\n")
    check = "import unittest\nfrom numbers_ import double\n\n\nclass T(unittest.TestCase):\n    def test_five(self):\n"
    (repo / "test_numbers.py").write_text(check + "        self.assertEqual(double(5), 10)\n")
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "base"]):
        subprocess.run(["git", *command], cwd=repo, check=True)
    script = folder / "script.jsonl"
    replies = [{"thought": "", "actions": [{"tool": tool, "args": args} for tool, args in step]} for step in SCRIPT]
    script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    project = open_project(repo)
    order = TaskOrder("double is wrong", "fix_bug", (f"{sys.executable} -m unittest -v",), model=f"scripted:{script}")
    task = add_task(project, order).task.id
    project.storage.close()
    return repo, task


def told(repo: Path, task: str) -> dict[str, object]:
    """What must be the same however often the run was interrupted: the summary, and what every call was sent."""
    project = open_project(repo)
    state, events = project.store.load(task), [entry.event for entry in project.store.journal(task)]
    assert state.status is TaskStatus.DONE and all(call.same for call in verify_calls(project, task))
    last = next(event.audit for event in reversed(events) if isinstance(event, CallRequested))
    return {
        "compacted": [(event.by, event.gone, event.summary) for event in events if isinstance(event, MemoryCompacted)],
        "bought": len((repo.parent / "bill").read_text().splitlines()),
        "sections": [section.name for section in last.sections],
        "summary": next(project.store.read(ref.block) for ref in last.sections if ref.name == "summary"),
        "decided": [
            event.decision.text for event in events if isinstance(event, DecisionMade) and event.decision.by == "harness"
        ],
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    repo, task = made(tmp_path_factory.mktemp("undisturbed"))
    assert drive(repo, task) == 0
    return told(repo, task)


def test_the_agent_puts_its_past_away_and_the_next_window_tells_of_it(undisturbed):
    ((by, gone, summary),) = undisturbed["compacted"]
    assert by == "agent" and len(gone) >= 3 and summary.through >= 1
    assert summary.keep == ("double is mended; only complete is left",)
    assert "- step 1: run echo wide_reading" in undisturbed["summary"] and "numbers_.py" in undisturbed["summary"]


@pytest.mark.parametrize(
    ("point", "step"),
    [
        ("after:Compacted", 1),
        pytest.param("before:Compacted", 1, marks=pytest.mark.torture),
        pytest.param("compacted", 5, marks=pytest.mark.torture),
    ],
)
def test_killed_in_the_middle_of_a_compaction_a_run_ends_with_the_same_bytes(point, step, tmp_path, undisturbed):
    repo, task = made(tmp_path)
    assert drive(repo, task, point, step) == -signal.SIGKILL
    nothing_lost(repo, task, f"compaction {point} {step}")
    assert drive(repo, task) == 0
    same_windows(repo, f"compaction {point} {step}")
    assert told(repo, task) == undisturbed


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own config file."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "config/afresh/config.toml"
    path.parent.mkdir(parents=True)
    return path


def hook(tmp_path: Path, exit: int) -> Path:
    path = tmp_path / "hook.sh"
    path.write_text(f"#!/bin/sh\ncat >> '{tmp_path}/asked'\nexit {exit}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize(("exit", "compactions", "noted"), [(10, 0, 0), (3, 1, 1)], ids=["skip", "fails"])
def test_the_users_hook_is_asked_in_a_real_run(exit, compactions, noted, tmp_path, config):
    config.write_text(f'[hooks]\nbefore_compaction = "{hook(tmp_path, exit)}"\n')
    repo, task = made(tmp_path)
    assert drive(repo, task) == 0
    project = open_project(repo)
    events = [entry.event for entry in project.store.journal(task)]
    assert project.store.load(task).status is TaskStatus.DONE
    assert sum(isinstance(event, MemoryCompacted) for event in events) == compactions
    assert sum(isinstance(event, DecisionMade) and "hook" in event.decision.text for event in events) == noted
    asked = json.loads((tmp_path / "asked").read_text())
    assert asked["task"] == task and asked["by"] == "agent" and asked["going"]["passages"] >= 3


def test_a_repository_may_not_set_a_hook_nor_buy_summaries(tmp_path, config):
    (tmp_path / "repo/.afresh").mkdir(parents=True)
    own = tmp_path / "repo/.afresh/config.toml"
    for text in ('[hooks]\nbefore_compaction = "touch x"\n', "[compaction]\nmodel_summary = true\n"):
        own.write_text(text)
        with pytest.raises(BadInput, match="can't be set in this file"):
            load_settings(ProjectPaths(tmp_path / "repo"))
