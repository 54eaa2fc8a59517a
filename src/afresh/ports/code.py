"""The seams to the analysis of code."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from afresh.core.context_item import Item
from afresh.core.line_region import Region
from afresh.core.state import State
from afresh.core.symbol import ContentToIndex, FileReading, IndexedContent, IndexTerm, SearchHit, Symbol, TreeListing
from afresh.core.verdict import UnfixedFunction
from afresh.ports.workspace import FileTree


class CodeIndexStore(Protocol):
    """Keeps what contents of code say, by keys made of them, for all trees that hold them. It may be lost at any time."""

    def listing(self, tree: str) -> TreeListing | None: ...
    def keep(self, tree: str, listing: TreeListing) -> None: ...
    def add(self, wanted: Mapping[str, Callable[[], ContentToIndex]]) -> Mapping[str, IndexedContent]:
        """Find contents by their keys; only those that are not known yet are taken, and kept in one commit."""
        ...

    def readings(self, numbers: Sequence[int], bare: bool = False) -> Mapping[int, FileReading]:
        """Readings of known contents; a bare one has no symbols and mentions. KeyError if one is gone."""
        ...

    def saying(self, term: IndexTerm, name: str) -> Mapping[int, int]:
        """Contents, of whatever tree, with how often each says it."""
        ...


class ComplexityAnalysis(Protocol):
    """Counts the functions that a task about complexity lowers."""

    def measure(self, state: State, files: FileTree) -> int:
        """What the task type counts in the tree (violations, say); 0 when it counts nothing."""
        ...

    def measure_functions(self, paths: Collection[str], files: FileTree) -> Mapping[str, int]:
        """The complexity of each function in these files, by `name path`."""
        ...

    def explain_unfixed(self, state: State, files: FileTree) -> Sequence[UnfixedFunction]:
        """Functions in scope that are over the limit, each with the reason why no change is left to offer."""
        ...


class CodeAnalysis(ComplexityAnalysis, Protocol):
    """Facts about the code, found without a model."""

    def looks(self, state: State, files: FileTree, wanted: Collection[str] = (), about: Sequence[Region] = ()) -> Sequence[Item]:
        """What the next window may show of the tree as it is now: the source tree, and the sections that are wanted. `about` are
        lines that the task has changed, or that it is to review."""
        ...

    def tests_for(self, changed: Sequence[str], files: FileTree) -> Sequence[str]:
        """Test files that cover the changed files; empty when that is not known."""
        ...

    def definitions(self, path: str, text: str) -> Sequence[Symbol]:
        """Those of a text as the file at the path would have it; empty when its language is not known."""
        ...

    def find(self, text: str, files: FileTree) -> Sequence[SearchHit]:
        """Where a name is defined, then where it is used; empty for a text that is not the name of a definition."""
        ...
