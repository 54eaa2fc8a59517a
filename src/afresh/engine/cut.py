"""A part of a piece that does not fit whole, which says what is missing and where it is. Pure."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from afresh.engine.draft import SectionPiece
from afresh.engine.parts import _keep_chosen_lines
from afresh.engine.tokens import TokenCounter

MIN_TRUNCATED_CHARACTERS = 120
MIN_CODE_LINES = 8
"""Characters below which nothing is cut; and lines of code below which nothing is shown."""


def truncate_piece(piece: SectionPiece, room: int, counter: TokenCounter) -> SectionPiece | None:
    """Head and tail, saying what is missing and where it is; nothing if too little would be left. At whole lines, unless that
    would leave most of the room empty. Of a piece that knows which of its lines matter, those."""
    if piece.first:
        chosen = _find_longest_fitting(partial(_keep_chosen_lines, piece), MIN_CODE_LINES, len(piece.first) - 1, room, counter)
        return replace(piece, text=chosen) if chosen else None
    by_lines = _find_longest_fitting(
        partial(_keep_head_and_tail_lines, piece), 2, len(piece.text.splitlines()) - 1, room, counter
    )
    if by_lines and 2 * counter(by_lines) >= room:
        return replace(piece, text=by_lines)
    by_characters = _find_longest_fitting(
        partial(_keep_head_and_tail_characters, piece),
        MIN_TRUNCATED_CHARACTERS,
        len(piece.text) - MIN_TRUNCATED_CHARACTERS,
        room,
        counter,
    )
    text = max(by_lines, by_characters, key=len)
    return replace(piece, text=text) if text else None


def _find_longest_fitting(made: Callable[[int], str], low: int, high: int, room: int, counter: TokenCounter) -> str:
    """The largest that fits; empty when none does."""
    best = ""
    while low <= high:
        keep = (low + high) // 2
        if counter(text := made(keep)) <= room:
            best, low = text, keep + 1
        else:
            high = keep - 1
    return best


def _keep_head_and_tail_lines(piece: SectionPiece, keep: int) -> str:
    lines = piece.text.splitlines()
    head = keep - keep // 3
    hint = f"[… {len(lines) - keep} of {len(lines)} lines cut{_name_piece_source(piece)}]"
    return "\n".join([*lines[:head], hint, *lines[len(lines) - (keep - head) :]])


def _keep_head_and_tail_characters(piece: SectionPiece, keep: int) -> str:
    text, head = piece.text, keep - keep // 3
    hint = f"[… {len(text) - keep:,} of {len(text):,} characters cut{_name_piece_source(piece)}]"
    return f"{text[:head]}\n{hint}\n{text[len(text) - (keep - head) :]}"


def _name_piece_source(piece: SectionPiece) -> str:
    return f": {piece.source}" if piece.source else ""
