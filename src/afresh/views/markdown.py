"""Splits a long file into parts at line ends; the split depends on the text only."""

import re
from collections.abc import Callable, Iterator, Sequence

from afresh.core.text import escape_hidden
from afresh.core.truncate import to_one_line

_MARKUP_PATTERN = re.compile(r"!(?=\[)|\](?=\()|<(?=[A-Za-z/!?])")


_REFERENCE_PATTERN = re.compile(r"([#@]|\bGH-|/(?:issues|pull|merge_requests|work_items)/)(?=\w)")
"""Text that a forge would turn into links, mentions or closed issues."""


def break_references(text: str) -> str:
    """Put a blank into references, so that foreign text closes no issue and calls nobody."""
    return _REFERENCE_PATTERN.sub(r"\1 ", text)


def escape_inline(text: str, limit: int = 0) -> str:
    return _escape_markup(to_one_line(text, limit))


def format_code(text: str, limit: int = 0) -> str:
    return f"`{to_one_line(text, limit).replace('`', 'ˋ')}`"


def quote_lines(text: str) -> list[str]:
    """Prefix every line with `>`, so that none starts at the margin."""
    return [f"> {line}".rstrip() for line in _escape_markup(escape_hidden(text.replace("\r\n", "\n"))).split("\n")]


def escape_cell(text: str) -> str:
    return text.replace("|", "\\|")


def _escape_markup(text: str) -> str:
    return _MARKUP_PATTERN.sub(r"\\\g<0>", text) if "<" in text or "[" in text else text


MAX_PART_BYTES = 50_000
"""Bytes of one part, including its front matter."""


def split_into_parts(lines: Sequence[str], front: Callable[[int, int], str]) -> tuple[str, ...]:
    """Split into parts of at most MAX_PART_BYTES; `front` makes the head of part n of m."""
    whole = front(1, 1) + "\n".join(lines) + "\n"
    if len(whole.encode()) <= MAX_PART_BYTES:
        return (whole,)
    rooms = (MAX_PART_BYTES - len(front(number, 99_999).encode()) for number in range(1, 100_000))
    bodies = list(_pack_lines(lines, rooms))
    return tuple(front(number, len(bodies)) + body for number, body in enumerate(bodies, 1))


def _pack_lines(lines: Sequence[str], rooms: Iterator[int]) -> Iterator[str]:
    held: list[str] = []
    size, room = 0, next(rooms)
    for piece in (piece for line in lines for piece in _split_long_line(line)):
        cost = len(piece.encode()) + 1
        if held and size + cost > room:
            yield "\n".join(held) + "\n"
            held, size, room = [], 0, next(rooms)
        held.append(piece)
        size += cost
    yield "\n".join(held) + "\n"


def _split_long_line(line: str) -> Iterator[str]:
    """Split a line that is longer than a part."""
    longest = MAX_PART_BYTES // 8
    for start in range(0, len(line) or 1, longest):
        yield line[start : start + longest]
