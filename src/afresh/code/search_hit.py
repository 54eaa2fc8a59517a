"""Search results: matching symbols, entry points, and uses of a symbol."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from afresh.core.symbol import SymbolPlace


class MatchQuality(StrEnum):
    """How closely a name matches the query, the closest first."""

    EXACT = "exact"
    SPELLING = "spelling"
    """Equal except for case and underscores."""
    PART = "part"
    """The query is part of the name."""
    WORDS = "words"
    """The name contains all words of the query, in any order."""
    NEAR = "near"
    """Only similar: no symbol has that name."""


@dataclass(frozen=True, slots=True)
class SymbolMatches:
    places: tuple[SymbolPlace, ...]
    match: MatchQuality
    more: int = 0
    """Number of matches that were left out."""


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """A place where a run may begin."""

    path: str
    line: int
    name: str
    """The command that starts it, or the file itself."""
    why: str


class UseKind(StrEnum):
    CALL = "call"
    """Also the creation of an instance, access to a property, and an operator that calls a method."""
    PASSED = "passed"
    """Passed on without being called here."""
    DECORATOR = "decorator"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class SymbolUse:
    path: str
    line: int
    within: str
    """Qualified name of the enclosing function or class; empty at module level."""
    text: str
    """The line, stripped."""
    sure: bool
    """Whether imports, scopes and types lead to the target. Otherwise only the name matches, or a method that it overrides."""
    kind: UseKind
    target: SymbolPlace


@dataclass(frozen=True, slots=True)
class SymbolUses:
    """Uses of a symbol, sure ones first, then by path and line."""

    found: tuple[SymbolUse, ...] = ()
    unread: int = 0
    """Files that mention the symbol but were not read, since each query reads a limited number."""
    cut: bool = False
    """Whether some uses were matched by name only, because type inference reached its limit."""

    def __iter__(self) -> Iterator[SymbolUse]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, index: int) -> SymbolUse:
        return self.found[index]
