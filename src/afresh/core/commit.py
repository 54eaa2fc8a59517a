"""What a repository's commits tell: what was said, and which files were changed with it."""

from collections.abc import Sequence
from dataclasses import field

from afresh.core.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CommitSummary:
    id: str
    day: str
    """When it was made, as `2024-05-01`."""
    subject: str


@dataclass(frozen=True, slots=True)
class CommitFiles:
    """One commit. `paths` has the files that it changed, added or removed."""

    message: str
    paths: tuple[str, ...]
    when: float


@dataclass(frozen=True, slots=True)
class CommitHistory:
    """The commits that lead to one, the newest first, without merges. Two of the same head are the same."""

    head: str = ""
    commits: Sequence[CommitFiles] = field(default=(), compare=False)


NO_COMMIT_HISTORY = CommitHistory()


@dataclass(frozen=True, slots=True)
class FileChurn:
    """How often and how lately a file was changed, as git tells it."""

    commits: int = 0
    last: float = 0.0
    """Seconds since 1970 of the last commit that touched it; 0 when none did."""
