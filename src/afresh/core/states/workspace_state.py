"""The task's tree: where it began, what it holds now, and what became of its changes."""

from dataclasses import replace
from typing import TYPE_CHECKING

from afresh.core.event import ChangeKeptOrReverted, Event, TaskEnded, WorkspaceOpened
from afresh.core.fast_dataclass import dataclass
from afresh.core.states.supervision_state import StepsUndone
from afresh.core.task import START_AT_HEAD, StartChosen, TaskStart

if TYPE_CHECKING:
    from afresh.core.state import State


@dataclass(frozen=True, slots=True)
class WorkspaceState:
    """The branch, its snapshots and what was changed."""

    base: str = ""
    branch: str = ""
    first_snapshot: str = ""
    """Before the first change."""
    snapshot: str = ""
    """After the last step that was kept or reverted: where a resumed task starts."""
    note: str = ""
    obeyed: tuple[str, ...] = ()
    """What of the tree the user's git runs or takes settings from."""
    commit: str = ""
    changed: tuple[str, ...] = ()
    """Paths that differ from the base."""
    last_change: int = 0
    """The last step that changed a file and was kept."""
    kept: int = 0
    reverted: int = 0
    tried: bool = False
    """A change was reverted by the harness, and no person has taken back steps since."""
    start: TaskStart = START_AT_HEAD

    def apply(self, event: Event, state: "State") -> "WorkspaceState":
        match event:
            case WorkspaceOpened():
                return replace(
                    self,
                    base=event.base,
                    branch=event.branch,
                    first_snapshot=event.snapshot,
                    snapshot=event.snapshot,
                    note=event.note,
                    obeyed=event.obeyed,
                )
            case ChangeKeptOrReverted():
                is_new = event.kept and event.worked and event.snapshot != self.snapshot
                return replace(
                    self,
                    snapshot=event.snapshot,
                    changed=event.changed,
                    last_change=event.step if is_new else self.last_change,
                    kept=self.kept + is_new,
                    reverted=self.reverted + (not event.kept),
                    tried=self.tried or not event.kept,
                )
            case StepsUndone():
                return replace(
                    self,
                    snapshot=event.snapshot,
                    changed=event.changed,
                    commit="",
                    last_change=state.work.step,
                    kept=max(0, self.kept - event.changes),
                    reverted=self.reverted + event.changes,
                    tried=False,
                )
            case StartChosen():
                return replace(self, start=event.start)
            case TaskEnded():
                return replace(self, commit=event.commit or self.commit)
            case _:
                return self
