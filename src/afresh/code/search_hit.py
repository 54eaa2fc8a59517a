"""Who uses a symbol, and what for."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from afresh.core.symbol import SymbolPlace


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


class UseKind(StrEnum):
    CALL = "call"
    """Also a class that is made an instance of, an access to a property, and an operator that stands for a method."""
    PASSED = "passed"
    """Handed on without being called here."""
    DECORATOR = "decorator"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class SymbolUse:
    path: str
    line: int
    within: str
    """Qualified name of the function or class it stands in; empty at the top of the file."""
    text: str
    """Of the line, without the white space around it."""
    sure: bool
    """Imports, scopes and types lead to the target. Otherwise only the name does, or a method that it overrides."""
    kind: UseKind
    target: SymbolPlace


@dataclass(frozen=True, slots=True)
class SymbolUses:
    """Sure ones first, then by path and line."""

    found: tuple[SymbolUse, ...] = ()
    unread: int = 0
    """Files that mention it and were left out, since one question reads a limited number."""
    cut: bool = False
    """Some were decided by name, because following types had taken too long."""

    def __iter__(self) -> Iterator[SymbolUse]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, index: int) -> SymbolUse:
        return self.found[index]
