"""Why the result of a task could not be merged into the user's branch."""

from collections.abc import Sequence

from afresh.core.fast_dataclass import dataclass

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
            return f"it conflicts with what was committed since in {_list_first(self.conflicts)}"
        return f"merged with what was committed since, this fails: {_list_first(self.failures)}"


def _list_first(names: Sequence[str]) -> str:
    more = [f"{len(names) - MAX_NAMES} more"] if len(names) > MAX_NAMES else []
    return ", ".join([*names[:MAX_NAMES], *more])
