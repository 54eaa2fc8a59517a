"""A part of a piece that does not fit whole, which says what is missing and where it is. Pure."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from afresh.engine.draft import Piece
from afresh.engine.parts import with_chosen
from afresh.engine.tokens import Gauge

SHORTEST_CUT = 120
FEWEST_LINES = 8
"""Characters below which nothing is cut; and lines of code below which nothing is shown."""


def cut(piece: Piece, room: int, counter: Gauge) -> Piece | None:
    """Head and tail, saying what is missing and where it is; nothing if too little would be left. At whole lines, unless that
    would leave most of the room empty. Of a piece that knows which of its lines matter, those."""
    if piece.first:
        chosen = longest(partial(with_chosen, piece), FEWEST_LINES, len(piece.first) - 1, room, counter)
        return replace(piece, text=chosen) if chosen else None
    by_lines = longest(partial(with_lines, piece), 2, len(piece.text.splitlines()) - 1, room, counter)
    if by_lines and 2 * counter(by_lines) >= room:
        return replace(piece, text=by_lines)
    by_characters = longest(partial(with_characters, piece), SHORTEST_CUT, len(piece.text) - SHORTEST_CUT, room, counter)
    text = max(by_lines, by_characters, key=len)
    return replace(piece, text=text) if text else None


def longest(made: Callable[[int], str], low: int, high: int, room: int, counter: Gauge) -> str:
    """The largest that fits; empty when none does."""
    best = ""
    while low <= high:
        keep = (low + high) // 2
        if counter(text := made(keep)) <= room:
            best, low = text, keep + 1
        else:
            high = keep - 1
    return best


def with_lines(piece: Piece, keep: int) -> str:
    lines = piece.text.splitlines()
    head = keep - keep // 3
    hint = f"[… {len(lines) - keep} of {len(lines)} lines cut{source(piece)}]"
    return "\n".join([*lines[:head], hint, *lines[len(lines) - (keep - head) :]])


def with_characters(piece: Piece, keep: int) -> str:
    text, head = piece.text, keep - keep // 3
    hint = f"[… {len(text) - keep:,} of {len(text):,} characters cut{source(piece)}]"
    return f"{text[:head]}\n{hint}\n{text[len(text) - (keep - head) :]}"


def source(piece: Piece) -> str:
    return f": {piece.source}" if piece.source else ""
