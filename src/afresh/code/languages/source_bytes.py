"""The bytes that were parsed, and the rows that they stand in."""

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


class SourceBytes:
    """Rows are counted here: asking `Node.start_point` for its row corrupts the memory of the process in tree-sitter 0.26.0."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def text(self, node: "Node") -> str:
        return self.content[node.start_byte : node.end_byte].decode()

    def row(self, byte: int) -> int:
        """Counted from 0."""
        return bisect_right(self._starts, byte)

    def rows(self, node: "Node") -> tuple[int, int]:
        """First and last, without the line that only the newline at its end leads to."""
        first = self.row(node.start_byte)
        return first, max(first, self.row(node.end_byte - 1))

    def empty(self, row: int) -> bool:
        """A line between others, with nothing in it."""
        return 0 < row < len(self._starts) and not self.content[self._starts[row - 1] : self._starts[row]].strip()

    def begins(self, row: int, byte: int) -> bool:
        """Whether nothing stands in the row before the byte."""
        return not self.content[self._starts[row - 1] if row else 0 : byte].strip()

    @cached_property
    def _starts(self) -> list[int]:
        """Of every line but the first."""
        return list(accumulate(len(line) + 1 for line in self.content.split(b"\n")))[:-1]
