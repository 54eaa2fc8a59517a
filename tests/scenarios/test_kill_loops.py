"""Killed with SIGKILL around a pause, an answer or a turn, a task goes on as if nothing had happened: it never skips a pause."""

import json
import signal
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from survived import drive, nothing_lost, same_windows
from test_kill import make

from afresh.app.dialogue.answer_question import answer_question
from afresh.app.inspect.inspect_calls import verify_calls
from afresh.app.orders.tasks import TaskOrder, add_task, record_events
from afresh.app.project import open_project
from afresh.core.states.strategy_state import StrategyChanged
from afresh.core.states.supervision_state import PausedForPerson, SupervisionModeSet
from afresh.core.task import TaskStatus

pytestmark = pytest.mark.journey

MEND = [
    {"tool": "edit", "args": {"path": "numbers_.py", "old": "x + 2", "new": "x * 2"}},
    {"tool": "edit", "args": {"path": "numbers_.py", "old": "x + 3", "new": "x * 3"}},
]
PLAN, MARK = [{"tool": "plan", "args": {"items": ["mend both"]}}], [{"tool": "plan", "args": {"items": ["[x] 1"]}}]
WORSE = [{"tool": "edit", "args": {"path": "numbers_.py", "old": "x + 2", "new": "x * 3"}}]
COMPLETE = [{"tool": "complete", "args": {"summary": "Multiply\n\nThey added."}}]


def ordered(folder: Path, *replies: list[dict[str, object]], loop: str = "", mode: str = "") -> tuple[Path, str]:
    repo, first = make(folder)
    script = folder / "loops.jsonl"
    script.write_text("".join(json.dumps({"thought": "", "actions": reply}) + "\n" for reply in replies))
    project = open_project(repo)
    check = project.store.load(first).task.checks[0].command
    state = add_task(
        project, TaskOrder("double and triple are wrong", "fix_bug", (check,), model=f"scripted:{script}", loop=loop)
    )
    if mode:
        record_events(project, state, state.task.id, [SupervisionModeSet(mode)])
    project.storage.close()
    return repo, state.task.id


def count(repo: Path, task: str, kind: type) -> int:
    return sum(isinstance(entry.event, kind) for entry in open_project(repo).store.journal(task))


def torture(*points: tuple[str, int]) -> list[ParameterSet]:
    return [pytest.param(*point, marks=pytest.mark.torture) for point in points]


@pytest.mark.parametrize(("point", "number"), [("after:Paused", 1), *torture(("before:Paused", 1), ("before:Ended", 1))])
def test_a_pause_is_never_skipped(point: str, number: int, tmp_path: Path) -> None:
    repo, task = ordered(tmp_path, MEND, COMPLETE, mode="supervised")
    assert drive(repo, task, point, number) == -signal.SIGKILL
    nothing_lost(repo, task, f"kill {point}")
    assert drive(repo, task) == 0
    project = open_project(repo)
    state = project.store.load(task)
    assert (state.status, state.dialogue.supervision.paused, state.workspace.changed, state.spending.calls) == (
        TaskStatus.BLOCKED,
        "change",
        (),
        1,
    )
    answer_question(project, task, "approve")
    assert drive(repo, task, "after:Paused", 1) == -signal.SIGKILL, "the next pause"
    assert drive(repo, task) == 0
    answer_question(project, task, "approve")
    assert drive(repo, task) == 0
    state = project.store.load(task)
    assert (state.status, state.spending.calls, state.dialogue.supervision.passed) == (TaskStatus.DONE, 2, ("change", "verify"))
    assert count(repo, task, PausedForPerson) == 2 and all(call.same for call in verify_calls(project, task))
    same_windows(repo, f"kill {point}")


@pytest.mark.parametrize(("point", "number"), [("after:Turned", 1), *torture(("before:Turned", 1), ("act", 4))])
def test_a_turn_is_taken_once(point: str, number: int, tmp_path: Path) -> None:
    repo, task = ordered(tmp_path, PLAN, WORSE, WORSE, PLAN, [*MEND, *MARK], COMPLETE, loop="plan_execute")
    assert drive(repo, task, point, number) == -signal.SIGKILL
    nothing_lost(repo, task, f"kill {point}")
    assert drive(repo, task) == 0
    state = open_project(repo).store.load(task)
    assert (state.status, state.work.step, state.spending.calls, state.workspace.reverted) == (TaskStatus.DONE, 6, 6, 2)
    assert count(repo, task, StrategyChanged) == 1
    same_windows(repo, f"kill {point}")
