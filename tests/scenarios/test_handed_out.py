"""Killed with SIGKILL anywhere while a part of it is worked on, a task ends as if nothing had happened; no call is paid twice."""

import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from handed import PLACE, make
from survived import drive, nothing_lost, same_windows, windows

from afresh.app.compose import RunTerms, run_task
from afresh.app.inspect.inspect_calls import verify_calls
from afresh.app.project import Project, open_project
from afresh.core.codec import to_plain_value
from afresh.core.task import TaskStatus
from afresh.workspace.repository import Repository
from afresh.workspace.worktree_location import find_worktrees_folder

pytestmark = pytest.mark.journey

POINTS = [("after:Replied", 4), ("after:Ended", 1)]
"""In the middle of the part, and after its end."""
MORE_POINTS = [
    ("before:Created", 1), ("after:Created", 1), ("taken", 1),
    ("after:Claimed", 2), ("before:Opened", 2), ("after:Opened", 2), ("before:Baselined", 2),
    ("recall", 3), ("edit", 1), ("edit", 2), ("settle", 3), ("settle", 4), ("before:Ended", 1), ("act", 6), ("judge", 6),
    ("before:HandedOut", 1), ("after:HandedOut", 1), ("build", 7),
]  # fmt: skip


def result(repo: Path, task: str) -> dict[str, Any]:
    project = open_project(repo)
    whole, part = project.store.load(task), project.store.load(f"{task}-{PLACE}")
    commit = subprocess.run(["git", "log", "-1", "--format=%T %B", f"afresh/{task}"], cwd=repo, capture_output=True, text=True)
    told = to_plain_value(whole.work.subtasks)
    for one in told:
        del one["metrics"]["seconds"], one["metrics"]["usage"]
    return {
        "verified": [call.same for one in (whole, part) for call in verify_calls(project, one.task.id)],
        "ended": [
            (one.status, one.work.step, one.spending.calls, one.workspace.kept, one.workspace.reverted) for one in (whole, part)
        ],
        "told": str(told).replace(task, "TASK"),
        "bought": len((repo.parent / "bill").read_text().splitlines()),
        "facts": [(fact.kind, fact.subject) for fact in whole.memory.facts],
        "commit": commit.stdout.replace(task, "TASK"),
        "windows": {step: set(hashes) for step, hashes in windows(repo, neutral=True).items()},
        "trees": sorted(path.name.replace(task, "TASK") for path in find_worktrees_folder(Repository.find(repo)).glob("[!.]*")),
        "branches": branches(repo).replace(task, "TASK"),
    }


def branches(repo: Path) -> str:
    listed = ["git", "branch", "--list", "afresh/*", "--format=%(refname:short)"]
    return subprocess.run(listed, cwd=repo, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    repo, task = make(tmp_path_factory.mktemp("undisturbed"))
    assert drive(repo, task) == 0
    return result(repo, task)


def test_an_undisturbed_run_takes_over_what_the_part_has_verified(undisturbed: dict[str, Any]) -> None:
    assert undisturbed["ended"] == [(TaskStatus.DONE, 4, 4, 2, 0), (TaskStatus.DONE, 4, 4, 1, 1)]
    assert undisturbed["bought"] == 8 and all(undisturbed["verified"])
    assert undisturbed["trees"] == ["TASK"] and undisturbed["branches"] == "afresh/TASK\n", "the part has left nothing behind"


@pytest.mark.parametrize(
    ("point", "step"), [*POINTS, *(pytest.param(*point, marks=pytest.mark.torture) for point in MORE_POINTS)], ids=str
)  # fmt: skip
def test_a_killed_run_ends_like_an_undisturbed_one(
    point: str, step: int, tmp_path: Path, undisturbed: dict[str, Any]
) -> None:  # fmt: skip
    repo, task = make(tmp_path)
    assert drive(repo, task, point, step) == -signal.SIGKILL
    nothing_lost(repo, task, f"handed out {point} {step}")
    heir = open_project(repo)
    refuses_the_part(heir, f"{task}-{PLACE}")
    heir.storage.close()
    assert drive(repo, task) == 0
    assert result(repo, task) == undisturbed
    same_windows(repo, f"handed out {point} {step}")


def refuses_the_part(project: Project, part: str) -> None:
    """It is nobody's to take up: whoever takes its parent goes on with it."""
    tickets = {ticket.task: ticket for ticket in project.queue.tickets()}
    assert part not in tickets or not tickets[part].ready
    if part in tickets:
        with pytest.raises(Exception, match="is a subtask of"):
            run_task(project, part, RunTerms(no_sandbox=True))


def test_killed_again_and_again_in_both_it_still_ends_the_same(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    repo, task = make(tmp_path)
    for point, step in [("after:Created", 1), ("before:Baselined", 1), ("edit", 1), ("taken", 1), ("before:HandedOut", 1)]:
        assert drive(repo, task, point, step) == -signal.SIGKILL, point
    assert drive(repo, task) == 0
    assert result(repo, task) == undisturbed
