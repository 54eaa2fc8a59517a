"""Of a definition that has no room as a whole the lines that matter now, in their order. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import log

from afresh.domain.words import split_words, stem_word, drop_stop_words
from afresh.engine.draft import SectionPiece
from afresh.engine.page import STUB_LINE

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
