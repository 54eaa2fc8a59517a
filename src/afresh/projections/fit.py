"""Text cut to a number of tokens, in any script: by our own count, and by three bytes a token where that would be too low."""

from collections.abc import Iterable

from afresh.domain.meter import UNLEARNT
from afresh.domain.pieces import pieces
from afresh.domain.text import cut, one_line, visible_json

BYTES = 3
"""Of a token, at least: so much it has in Latin and in Chinese text, and words that no vocabulary has come out longer."""


def tokens(text: str) -> int:
    """Of a text as it stands in a file."""
    return max(int(pieces(text) * UNLEARNT) + 1, -(-len(text.encode()) // BYTES))


def fitted(text: str, room: int) -> str:
    """On one line, at most `room` tokens as a JSON string, its quotes not counted; room is 2 or more."""
    return verbatim(one_line(text, BYTES * room), room)


def verbatim(text: str, room: int) -> str:
    """The same, with lines and blanks as they are: for a person's own words."""
    text = cut(text, BYTES * room)
    while len(text) > 1 and _inside(text) > room:
        text = cut(text.rstrip("…"), max(1, len(text) * 9 // 10 - 1))
    return text


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


_QUOTES, _MORE = 3, 10


def short(text: str, room: int) -> str:
    """On one line, at most `room` bytes as a JSON string."""
    text = one_line(text, room)
    while len(text) > 1 and len(visible_json(text).encode()) > room:
        text = cut(text.rstrip("…"), max(1, len(text) * 9 // 10 - 1))
    return text


def _inside(text: str) -> int:
    return tokens(visible_json(text)[1:-1])
