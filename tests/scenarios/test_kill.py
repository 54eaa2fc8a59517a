"""Killed with SIGKILL anywhere, a task ends as if nothing had happened, and no reply is bought twice."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from survived import count, drive, nothing_lost, same_windows, windows

from afresh.app.inspect.inspect_calls import verify_calls
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import open_project
from afresh.app.results.task_result import list_task_changes
from afresh.core.task import TaskStatus

BUGGY = "def double(x):\n    return x + 2\n\n\ndef triple(x):\n    return x + 3\n"
CHECK = "import unittest\nfrom numbers_ import double, triple\n\n\nclass T(unittest.TestCase):\n" + "".join(
    f"    def test_{name}(self):\n        self.assertEqual({call}, {value})\n"
    for name, call, value in [("two", "double(2)", 4), ("five", "double(5)", 10), ("four", "triple(4)", 12)]
)
SCRIPT = [
    [("read", {"path": "numbers_.py"})],
    [("edit", {"path": "numbers_.py", "old": "x + 2", "new": "x * 3"})],
    [
        ("edit", {"path": "numbers_.py", "old": "x + 2", "new": "x * 2"}),
        ("edit", {"path": "numbers_.py", "old": "x + 3", "new": "x * 3"}),
        ("plan", {"items": ["[x] mend both", "complete"]}),
    ],
    [("complete", {"summary": "Multiply instead of adding\n\nBoth functions added their factor."})],
]
"""The second reply breaks a test that passed, so it is undone; the third mends everything."""

POINTS = [("before:Baselined", 1), ("after:Replied", 2), ("edit", 2), ("settle", 2), ("after:Finished", 3), ("after:Ended", 1)]
"""Before the first step, in its middle before and after its change is made and undone, between two steps, and after the end."""
MORE_POINTS = [
    ("before:Opened", 1), ("recall", 1), ("build", 1), ("digest", 2), ("judge", 2), ("finish", 4), ("before:Ended", 1),
    ("after:Claimed", 1), ("after:Opened", 1), ("after:Baselined", 1), ("after:Requested", 1), ("act", 1), ("edit", 1),
    ("after:Settled", 2), ("judge", 3), ("recall", 3), ("build", 4), ("act", 2), ("finish", 2), ("before:Settled", 2), ("act", 3),
    ("settle", 3), ("before:Finished", 3), ("judge", 4),
]  # fmt: skip


def make(folder: Path, script_of: list = SCRIPT, goal: str = "double and triple are wrong", **review: str) -> tuple[Path, str]:
    repo = folder / "repo"
    repo.mkdir()
    (repo / "numbers_.py").write_text(BUGGY)
    (repo / "test_numbers.py").write_text(CHECK)
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "base"]):
        subprocess.run(["git", *command], cwd=repo, check=True)
    script = folder / "script.jsonl"
    replies = [{"thought": "", "actions": [{"tool": tool, "args": args} for tool, args in step]} for step in script_of]
    lines = [*replies, {"review": "", "asked": True, **review}]
    script.write_text("".join(json.dumps(line) + "\n" for line in lines))
    project = open_project(repo)
    order = TaskOrder(goal, "fix_bug", (f"{sys.executable} -m unittest -v",), model=f"scripted:{script}")
    task = add_task(project, order).task.id
    project.storage.close()
    return repo, task


def result(repo: Path, task: str) -> dict[str, object]:
    """What must be the same however often the run was interrupted. The commit's id covers tree, message and parent. Windows are
    the same to the byte, but for where the tree lies and how long its tests took: what the dead would have built is built."""
    project = open_project(repo)
    state = project.store.load(task)
    commit = subprocess.run(["git", "log", "-1", "--format=%T %B", f"afresh/{task}"], cwd=repo, capture_output=True, text=True)
    assert all(call.same for call in verify_calls(project, task))
    assert not subprocess.run(
        ["git", "status", "--porcelain", "--", ".", ":!.afresh/knowledge"], cwd=repo, capture_output=True, text=True
    ).stdout
    return {
        "status": state.status,
        "step": state.work.step,
        "calls": state.spending.calls,
        "bought": len((repo.parent / "bill").read_text().splitlines()),
        "kept": state.workspace.kept,
        "reverted": state.workspace.reverted,
        "facts": [(fact.kind, fact.subject) for fact in state.memory.facts],
        "plan": state.work.plan,
        "patch": [change.patch for change in list_task_changes(project, state)],
        "verdict": state.verification.verdict and state.verification.verdict.ruling,
        "commit": commit.stdout.replace(task, "TASK"),
        "windows": {step: set(hashes) for step, hashes in windows(repo, neutral=True).items()},
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    repo, task = make(tmp_path_factory.mktemp("undisturbed"))
    assert drive(repo, task) == 0
    return result(repo, task)


def test_an_undisturbed_run_mends_the_bug_and_reverts_what_made_it_worse(undisturbed):
    assert undisturbed["status"] is TaskStatus.DONE
    assert (undisturbed["step"], undisturbed["bought"], undisturbed["kept"], undisturbed["reverted"]) == (4, 4, 1, 1)


@pytest.mark.promise("a crash at night ends the run")
@pytest.mark.parametrize(
    ("point", "step"),
    [*POINTS, *(pytest.param(*point, marks=pytest.mark.torture) for point in MORE_POINTS)],
    ids=lambda value: str(value),
)
def test_a_killed_run_ends_like_an_undisturbed_one(point, step, tmp_path, undisturbed):
    repo, task = make(tmp_path)
    assert drive(repo, task, point, step) == -signal.SIGKILL
    dead = nothing_lost(repo, task, f"kill {point} {step}")
    if dead.status is not TaskStatus.DONE:
        assert drive(repo, task) == 0
    assert result(repo, task) == undisturbed
    same_windows(repo, f"kill {point} {step}")
    count(f"kill {point} {step}: windows of the undisturbed run", len(windows(repo)))


@pytest.mark.promise("After a crash")
def test_a_reply_that_never_reached_the_disk_is_the_only_one_bought_again(tmp_path, undisturbed):
    """The limit of the promise, kept in sight: an answer that the provider has sent and we have not stored is lost."""
    repo, task = make(tmp_path)
    assert drive(repo, task, "before:Replied", 2) == -signal.SIGKILL
    nothing_lost(repo, task, "kill before:Replied 2")
    assert drive(repo, task) == 0
    same_windows(repo, "kill before:Replied 2")
    assert result(repo, task) == {**undisturbed, "bought": 5}


def test_killed_again_and_again_it_still_ends_the_same(tmp_path, undisturbed):
    repo, task = make(tmp_path)
    for point, step in [("after:Opened", 1), ("act", 1), ("edit", 1), ("judge", 1), ("settle", 1), ("before:Ended", 1)]:
        drive(repo, task, point, step)
        nothing_lost(repo, task, f"killed again {point} {step}")
    drive(repo, task)
    same_windows(repo, "killed again and again")
    assert result(repo, task) == undisturbed


def test_a_review_is_not_bought_again_after_a_crash(tmp_path: Path) -> None:
    easier = ("edit", {"path": "test_numbers.py", "old": "assertEqual(double(2), 4)", "new": "assertTrue(double(2))"})
    goal = "double and triple are wrong; test_two is too strict"
    repo, task = make(tmp_path, [[*SCRIPT[2], easier], SCRIPT[3]], goal, how="ordered", quote="test_two is too strict")
    assert drive(repo, task, "after:Reviewed", 1) == -signal.SIGKILL
    assert len((tmp_path / "bill").read_text().splitlines()) == 3 and drive(repo, task) == 0
    state = result(repo, task)
    assert (state["status"], state["bought"], state["calls"], state["verdict"]) == (TaskStatus.DONE, 3, 3, "PASS")
