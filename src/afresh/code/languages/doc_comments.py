"""Rows and comments of a parsed file: which comment documents which definition."""

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from afresh.core.text import replace_lone_surrogates
from afresh.core.truncate import truncate_text

if TYPE_CHECKING:
    from tree_sitter import Node


class SourceBytes:
    """The bytes of a file. It counts rows itself because Node.start_point corrupts the memory of the process in tree-sitter
    0.26.0.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content

    def text(self, node: "Node") -> str:
        return self.content[node.start_byte : node.end_byte].decode()

    def row(self, byte: int) -> int:
        """Return the row of a byte, counted from 0."""
        return bisect_right(self._starts, byte)

    def rows(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and last row of a range. A newline at its end does not count as a further row."""
        first = self.row(start)
        return first, max(first, self.row(end - 1))

    def empty(self, row: int) -> bool:
        """Whether the row is empty; False for the first and the last row."""
        return 0 < row < len(self._starts) and not self.content[self._starts[row - 1] : self._starts[row]].strip()

    def begins(self, row: int, byte: int) -> bool:
        """Whether the row has nothing but white space before the byte."""
        return not self.content[self._starts[row - 1] if row else 0 : byte].strip()

    @cached_property
    def _starts(self) -> list[int]:
        """First byte of every row but the first."""
        return list(accumulate(len(line) + 1 for line in self.content.split(b"\n")))[:-1]


MAX_DOC_CHARACTERS = 160
"""Characters of a doc line."""
SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<=[.!?])\s+(?=[\w`\"'(])")
DIRECTIVE_COMMENT = re.compile(
    r"(?://|/\*)\s*(?:eslint|prettier|tslint|jshint|global |@ts-|#|go:|\+build|nolint|</?auto-?generated)"
)
MARKUP_TAG = re.compile(r"</?\w[^<>]*>")
DOC_REFERENCE = re.compile(r"<(?:see|seealso|paramref|typeparamref)\s+\w+=\"(?:\w:)?([^\"]*)\"\s*/?>|\{@(\w+)\s++([^{}]*+)\}")


@dataclass(frozen=True, slots=True)
class CommentStyle:
    """Which comments of a language are documentation."""

    doc: re.Pattern[str]
    """How a comment begins that documents what follows."""
    gap: bool = False
    """Whether an empty line may separate a comment from what it documents."""
    markup: bool = False
    """Whether documentation contains XML or HTML tags."""


class DocComments:
    def __init__(self, source: SourceBytes, nodes: "Sequence[Node]", style: CommentStyle) -> None:
        self._source, self._nodes, self._style = source, nodes, style
        self._rows = [source.rows(node.start_byte, node.end_byte) for node in nodes]
        self._ending = {last: number for number, (_, last) in enumerate(self._rows)}

    def before(self, row: int, start: int) -> str:
        """Return the doc line of the definition that begins at a row and byte: from the comment above it, or before it on the
        same line.
        """
        if not self._nodes:
            return ""
        number = self._ending.get(row)
        if number is None or self._nodes[number].end_byte > start:
            number = self._ending.get(row - 1) if self._source.begins(row, start) else None
        elif self._source.content[self._nodes[number].end_byte : start].strip():
            number = None
        if number is None and self._style.gap and self._source.begins(row, start) and self._source.empty(row - 1):
            number = self._ending.get(row - 2)
        return extract_first_sentence(self._block(number), self._style.markup) if number is not None else ""

    def _follows(self, number: int) -> bool:
        """Whether the comment continues the block of the one before it."""
        return (
            self._rows[number][0] == self._rows[number - 1][1] + 1
            and self._text(number).startswith("//")
            and self._text(number - 1).startswith("//")
        )

    def _block(self, last: int) -> list[str]:
        """Return the comment lines of the block that ends with one, as far as they are documentation."""
        found: list[str] = []
        number = last
        while True:
            text = self._text(number)
            if self._style.doc.match(text):
                found.append(text)
            elif not DIRECTIVE_COMMENT.match(text):
                break
            if number == 0 or not self._follows(number):
                break
            number -= 1
        return found[::-1]

    def _text(self, number: int) -> str:
        return self._source.text(self._nodes[number])


def extract_first_sentence(comments: Iterable[str], markup: bool = False) -> str:
    """Return the first sentence of a comment block in one line, without comment marks and tags."""
    lines: list[str] = []
    for bare in (bare for comment in comments for bare in _strip_comment_marks(comment)):
        line = _strip_markup(bare) if markup else bare
        if not line and not lines:
            continue
        if not line or line.startswith(("@", "\\")):
            break
        lines.append(line)
    text = " ".join(" ".join(lines).split())
    sentence = SENTENCE_END.split(text, maxsplit=1)[0]
    return truncate_text(sentence, MAX_DOC_CHARACTERS)


def _strip_comment_marks(comment: str) -> list[str]:
    lines = (
        [re.sub(r"^//[/!]*", "", comment)]
        if comment.startswith("//")
        else re.sub(r"^/\*+!?|\*+/$", "", comment.strip()).split("\n")
    )
    return [re.sub(r"^\s*\*+(?!\w*\*)", "", line).strip() for line in lines]


def _strip_markup(line: str) -> str:
    return MARKUP_TAG.sub("", DOC_REFERENCE.sub(_reference_text, line)).strip()


def _reference_text(match: re.Match[str]) -> str:
    """Return the label of a reference, or its target if it has none."""
    if match[1]:
        return match[1]
    words = match[3].split(maxsplit=1) if match[2] in ("link", "linkplain") else [match[3]]
    return words[-1].lstrip("#") if words else ""


DOCSTRING = re.compile(r"\s*[rRuU]?(\"\"\"|'''|\"|')([^\\]*)\1\s*", re.DOTALL)


def extract_docstring_line(source: str) -> str:
    """Return the first line of a docstring of Python, given as written."""
    if match := DOCSTRING.fullmatch(source):
        value = match[2]
    else:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = ast.literal_eval(f"({source})")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ""
    return replace_lone_surrogates(value).strip().partition("\n")[0].expandtabs().strip() if isinstance(value, str) else ""
