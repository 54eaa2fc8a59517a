"""Text cut to a number of tokens or bytes, in any script. Tokens by our own count, or three bytes each where that is more."""

from bisect import bisect_right
from collections.abc import Callable, Iterable

from afresh.domain.meter import UNLEARNT
from afresh.domain.pieces import PIECES
from afresh.domain.text import cut, one_line, visible_json
from afresh.projections.masked import masked

BYTES = 3
"""Of a token, at least: so much it has in Latin and in Chinese text, and words that no vocabulary has come out longer."""
_QUOTES = 3
_MORE = 10
_LOOK = 24
"""Tokens around an item of a list, of the line about those left out; characters looked at for each token or byte of room."""


def tokens(text: str) -> int:
    """Of a text as it stands in a file. Not by the cached count: what is cut here is seen once."""
    return max(int(len(PIECES.findall(text)) * UNLEARNT) + 1, -(-len(text.encode()) // BYTES))


def fitted(text: str, room: int) -> str:
    """On one line, at most `room` tokens as a JSON string, its quotes not counted; room is 2 or more."""
    return _longest(one_line(masked(text[: _LOOK * room]), BYTES * room), room, _inside)


def verbatim(text: str, room: int) -> str:
    """The same, with lines and blanks as they are: for a person's own words."""
    return _longest(cut(masked(text[: _LOOK * room]), BYTES * room), room, _inside)


def short(text: str, room: int) -> str:
    """On one line, at most `room` bytes as a JSON string, quotes included; room is 5 or more."""
    return _longest(one_line(masked(text[: _LOOK * room]), room), room, lambda part: len(visible_json(part).encode()))


def listed(texts: Iterable[str], room: int, each: int) -> list[str]:
    """As many of them as have room, each cut to `each` tokens, and how many there are besides."""
    shown: list[str] = []
    all_of_them = list(texts)
    room -= _MORE
    for place, text in enumerate(all_of_them):
        line = fitted(text, each)
        room -= _inside(line) + _QUOTES
        if room < 0:
            return [*shown, f"and {len(all_of_them) - place:,} more"]
        shown.append(line)
    return shown


def _longest(text: str, room: int, size: Callable[[str], int]) -> str:
    """The longest beginning that fits."""
    if size(text) <= room:
        return text
    length = bisect_right(range(1, len(text)), room, key=lambda length: size(cut(text, length)))
    return cut(text, length) if length else "…"


def _inside(text: str) -> int:
    return tokens(visible_json(text)[1:-1])
