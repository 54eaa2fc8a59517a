"""The task's tree: where it began, what it holds now, and what became of its changes."""

from typing import TYPE_CHECKING

from afresh.core.fast_dataclass import dataclass
from afresh.core.task import START_AT_HEAD, TaskStart

if TYPE_CHECKING:
    pass


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
