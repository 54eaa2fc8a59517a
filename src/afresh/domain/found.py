"""Symbols that were looked for, and places where runs begin."""

from dataclasses import dataclass
from enum import StrEnum

from afresh.domain.code import SymbolPlace


class MatchQuality(StrEnum):
    """How far a name is from what was asked for; the nearer first."""

    EXACT = "exact"
    SPELLING = "spelling"
    """The same but for case and underscores."""
    PART = "part"
    """It stands in the name."""
    WORDS = "words"
    """All its words do, in any order."""
    NEAR = "near"
    """Only similar: nothing of that name exists."""


@dataclass(frozen=True, slots=True)
class SymbolMatches:
    places: tuple[SymbolPlace, ...]
    match: MatchQuality
    more: int = 0
    """Places that were left out."""


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """Where a run may begin."""

    path: str
    line: int
    name: str
    """What it is started by: a command, or the file itself."""
    why: str
