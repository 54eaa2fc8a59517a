"""A page: what a command has to say, as data for scripts and as blocks for people. `cli/render/draw_page.py` draws the blocks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Span = tuple[str, str]
"""A text and its style, such as `bold red`; empty for none."""
Line = str | Sequence[Span]


@dataclass(frozen=True, slots=True)
class Heading:
    text: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across the screen with words in it."""

    line: Line


@dataclass(frozen=True, slots=True)
class Cut:
    """A line that is cut at the width, not wrapped, such as one of a program."""

    line: Line


@dataclass(frozen=True, slots=True)
class Fields:
    """Labels on the left, values on the right."""

    rows: Sequence[tuple[str, Line]]


@dataclass(frozen=True, slots=True)
class Table:
    columns: str
    """Separated by |; those with figures, which stand on the right, begin with >."""
    rows: Sequence[Sequence[Line]]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Tree:
    line: Line
    below: Sequence["Tree"] = ()


@dataclass(frozen=True, slots=True)
class Box:
    """A line in a frame of this style, with a title."""

    title: str
    line: Line
    style: str


@dataclass(frozen=True, slots=True)
class Indented:
    blocks: Sequence["Block"]


Block = Line | Heading | Rule | Cut | Fields | Table | Tree | Box | Indented


@dataclass(frozen=True, slots=True)
class Page:
    """The output of a command."""

    data: Any
    blocks: str | Sequence[Block] | Callable[[], Any] = ()
    """Text that is printed as it is, or blocks; a function makes them, or prints: it is not called with --json."""
    code: int = 0
    """The exit code."""
