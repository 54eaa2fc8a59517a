"""A part of a piece that does not fit whole, which says what is missing and where it is. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import log

from afresh.context.render import STUB_LINE
from afresh.context.section import SectionPiece
from afresh.core.search_words import drop_stop_words, split_words, stem_word
from afresh.core.tokens import TokenCounter

NUMBERED_PIECE_LINE = re.compile(r"[+ ]\s*(\d+) ?(.*)")
OPENING_LINES = 3
NEIGHBOUR_WEIGHT = 0.5
MAX_UNMARKED_GAP_CHARACTERS = 40
"""Lines at the beginning that say what it is; what a line counts for that stands beside one that matters; and characters that are
shown rather than marked as left out."""


def rank_lines_by_need(text: str, spoken: str) -> tuple[int, ...]:
    """The lines of a piece by place: its beginning, then those that say the rarest of the words that the work speaks of, with
    those beside them."""
    lines = text.split("\n")
    wanted = {stem_word(word) for word in drop_stop_words(split_words(spoken))}
    said = [wanted.intersection(map(stem_word, split_words(line))) for line in lines]
    common = Counter(word for held in said for word in held)
    own = [sum(log(1 + len(lines) / common[word]) for word in held) for held in said]
    near = [max(own[max(0, at - 2) : at + 3]) * NEIGHBOUR_WEIGHT for at in range(len(lines))]
    score = [own[at] + near[at] + (1_000 if at <= OPENING_LINES else 0) for at in range(len(lines))]
    return tuple(sorted(range(len(lines)), key=lambda at: (-score[at], at)))


def _keep_chosen_lines(piece: SectionPiece, keep: int) -> str:
    return "\n".join(mark_gaps(piece.text.split("\n"), set(piece.first[:keep])))


def mark_gaps(lines: Sequence[str], chosen: set[int]) -> Iterator[str]:
    """A line stands for each gap, with the numbers of what is missing."""
    gone: list[str] = []
    for at, line in enumerate((*lines, "")):
        if at < len(lines) and at not in chosen:
            gone.append(line)
            continue
        if sum(len(one.strip()) for one in gone) > MAX_UNMARKED_GAP_CHARACTERS:
            yield _render_gap(gone)
        else:
            yield from gone
        gone = []
        if at < len(lines):
            yield line


def _render_gap(lines: Sequence[str]) -> str:
    found = [match for line in lines if (match := STUB_LINE.fullmatch(line) or NUMBERED_PIECE_LINE.match(line))]
    if not found:
        return "     …"
    last = found[-1]
    return f"     … {found[0][1]}-{last[2] if STUB_LINE.fullmatch(last[0]) else last[1]}"


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
