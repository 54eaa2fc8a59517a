"""What a repository's commits tell: what was said, and which files were changed with it."""

from collections.abc import Sequence
from dataclasses import dataclass, field


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
