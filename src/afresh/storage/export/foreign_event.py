"""What no journal of afresh says, and one that somebody has made up may: names that git would read as something else than an
object, and schedules that are never due."""

from collections.abc import Iterator

from afresh.core.event import ChangeKeptOrReverted, Event, TaskCreated, TaskEnded, WorkspaceOpened
from afresh.core.heartbeat import ScheduleAdded
from afresh.core.schedule import is_ever_due
from afresh.core.states.supervision_state import RecoveredFromCheckpoint, StepsUndone
from afresh.core.task import StartChosen
from afresh.core.work_transfer import GIT_OBJECT_ID


def explain_foreign_event(event: Event, task: str) -> str:
    """Why the event is of no use here; empty if it is."""
    if isinstance(event, WorkspaceOpened) and event.branch != f"afresh/{task}":
        return f"names {event.branch!r} as the branch of {task!r}"
    if name := next((name for name in list_git_objects(event) if name and not GIT_OBJECT_ID.fullmatch(name)), ""):
        return f"names {name!r}, which is no snapshot or commit of git"
    if isinstance(event, ScheduleAdded) and not is_ever_due(event.schedule):
        return f"has a schedule that is never due: {event.schedule.id!r}"
    return ""


def list_git_objects(event: Event) -> Iterator[str]:
    """The ids of commits and trees that the event names; those that are not known are empty."""
    match event:
        case TaskCreated(task):
            yield task.tree
        case StartChosen(start):
            yield from (start.base, start.carried, start.refused.commit if start.refused else "")
        case WorkspaceOpened(base, _, snapshot):
            yield from (base, snapshot)
        case ChangeKeptOrReverted() | StepsUndone():
            yield event.snapshot
        case TaskEnded():
            yield event.commit
        case RecoveredFromCheckpoint():
            yield event.left_snapshot
        case _:
            pass
