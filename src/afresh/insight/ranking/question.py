"""What is asked of the ranking, and what it answers."""

from dataclasses import dataclass

from afresh.domain.code import Symbol
from afresh.domain.history import NO_COMMIT_HISTORY, CommitHistory


@dataclass(frozen=True, slots=True)
class RankingQuery:
    """A task's text, the files that it has touched, and what the repository's commits tell; each may be missing."""

    text: str = ""
    touched: tuple[str, ...] = ()
    history: CommitHistory = NO_COMMIT_HISTORY


@dataclass(frozen=True, slots=True)
class RankedFile:
    """A file that matters."""

    path: str
    score: float
    """1 for the best of all files; it says nothing across questions."""
    reasons: tuple[str, ...]
    """Why it is here, in few words each, the weightiest first."""
    symbols: tuple[Symbol, ...] = ()
    """What matters in it, the weightiest first."""
