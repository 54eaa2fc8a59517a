"""Lets a task change tests by a person's command."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from afresh.core.leave import Grant, LeaveGiven
from afresh.core.steering_files import find_who_acts
from afresh.errors import BadInput

if TYPE_CHECKING:
    from afresh.app.project import Project
    from afresh.core.state import State


def give_leave(root: Path, paths: Sequence[str]) -> LeaveGiven:
    """Leave for any change of these files, folders or single tests (path::test). BadInput for one that does not exist."""
    return LeaveGiven(tuple(_make_grant(root, path) for path in paths))


def _make_grant(root: Path, written: str) -> Grant:
    path, _, name = written.removeprefix("./").partition("::")
    place = root / path
    if not path or not (place.exists() or find_who_acts(path)) or not place.resolve().is_relative_to(root.resolve()):
        raise BadInput(
            f"no such file or folder in this repository: {written}",
            next="give a path from its root, such as tests/test_parser.py, tests/ or tests/test_parser.py::test_tabs",
            safe="nothing was changed",
        )
    inside = place.resolve().relative_to(root.resolve()).as_posix()
    if place.is_dir() or path.endswith("/"):
        inside = f"{inside}/" if inside != "." else ""
    return Grant(inside, name)


def allow_test_changes(project: "Project", task: str, paths: Sequence[str]) -> "State":
    """Record the leave. A task that asks about tests is answered by it, and becomes ready."""
    from afresh.app.orders.tasks import record_events
    from afresh.app.results.task_result import refuse_held_task
    from afresh.core.event import Event, QuestionAnswered
    from afresh.core.task import TaskStatus
    from afresh.workspace.git import find_author_name

    state = project.store.load(task)
    refuse_held_task(project, state, "nothing was allowed")
    events: list[Event] = [give_leave(project.paths.root, paths)]
    if state.status is TaskStatus.BLOCKED and state.verification.offered:
        events.append(QuestionAnswered(f"you may change {', '.join(paths)}", find_author_name(project.paths.root)))
    return record_events(project, state, task, events)
