"""What a file of code says of itself, whatever its language: read once for each content, never executed."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from afresh.core.fast_dataclass import dataclass


class SymbolKind(StrEnum):
    """Kinds of symbols, in words that fit every language."""

    CLASS = "class"
    """Also struct, enum, record, object and the like."""
    INTERFACE = "interface"
    """Also trait and protocol."""
    FUNCTION = "function"
    METHOD = "method"
    CONSTANT = "constant"
    """A name bound at the top of a file or class; also type aliases and fields."""


@dataclass(frozen=True, slots=True)
class Symbol:
    name: str
    """Qualified within its file, as `Class.method`."""
    kind: SymbolKind
    line: int
    """Of its first decorator or keyword, counted from 1."""
    end: int
    signature: str
    """One line, as a reader would write it down: `def parse(text: str, *, strict: bool = False) -> Tree`."""
    doc: str = ""
    """First line of its documentation."""
    bases: tuple[str, ...] = ()
    """As written: classes that it extends, interfaces that it implements."""

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def public(self) -> bool:
        return not any(part.startswith("_") and not part.endswith("__") for part in self.name.split("."))


@dataclass(frozen=True, slots=True)
class ImportedModule:
    """One imported module. `names` are pairs of the name there and the name here; empty for the module as a whole."""

    module: str
    """As written, with leading dots where it is relative: `..text`, `./button`, `crate::words`."""
    line: int
    names: tuple[tuple[str, str], ...] = ()
    alias: str = ""


@dataclass(frozen=True, slots=True)
class FileReading:
    """All that is kept of one content."""

    language: str
    lines: int
    symbols: tuple[Symbol, ...] = ()
    """The symbols in reading order."""
    imports: tuple[ImportedModule, ...] = ()
    mentions: tuple[str, ...] = ()
    """Identifiers that its code uses, each once, sorted; not those in comments and strings."""
    entry: str = ""
    """Why a run may begin here (`if __name__ == "__main__"`, `func main`); empty if none may."""
    fault: str = ""
    """Why it was not understood: does not parse, too large, generated, not text. Then the rest may be empty."""
    packages: tuple[str, ...] = ()
    """Packages or namespaces that it declares itself to be part of, where the language has such a declaration."""


@dataclass(frozen=True, slots=True)
class SymbolPlace:
    """The place of a symbol."""

    path: str
    symbol: Symbol

    def __str__(self) -> str:
        return f"{self.path}:{self.symbol.line}"


class IndexTerm(StrEnum):
    """The keys under which contents can be found."""

    WORD = "w"
    MENTION = "m"
    SYMBOL = "d"
    """Last part of the name of what is defined."""


@dataclass(frozen=True, slots=True)
class ContentToIndex:
    """A content as it is taken into an index."""

    reading: FileReading
    words: Mapping[str, int]
    """How often it says each, stemmed."""


@dataclass(frozen=True, slots=True)
class IndexedContent:
    """A content that an index holds."""

    number: int
    length: int
    """Words in it."""


@dataclass(frozen=True, slots=True)
class TreeListing:
    """What was last seen of a tree."""

    stamps: str
    """Paths and marks in turn, each ended by a zero sign."""
    keys: Sequence[str]
    """Of the content of each file of code, in the order of the paths."""
    contents: Sequence[IndexedContent]


HIT_REMARK_START = "  ("


@dataclass(frozen=True, slots=True)
class SearchHit:
    path: str
    line: int
    text: str
    """A signature, or the line that uses it and, after `HIT_REMARK_START`, where that is."""
    defines: bool
    """Whether it is a definition; otherwise it is a use."""
