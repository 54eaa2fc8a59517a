"""Why the result of a task could not be merged into the user's branch."""

from afresh.core.fast_dataclass import dataclass
from afresh.core.verdict import join_first_names

MAX_NAMES = 8


@dataclass(frozen=True, slots=True)
class RefusedMerge:
    task: str
    commit: str
    """Its result."""
    conflicts: tuple[str, ...] = ()
    """Files that the branch has changed in another way."""
    failures: tuple[str, ...] = ()
    """Tests and commands that pass on both sides and fail in the merged tree."""

    @property
    def words(self) -> str:
        if self.conflicts:
            return f"it conflicts with what was committed since in {join_first_names(self.conflicts, MAX_NAMES)}"
        return f"merged with what was committed since, this fails: {join_first_names(self.failures, MAX_NAMES)}"
