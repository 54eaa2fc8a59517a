"""Of a definition that has no room as a whole the lines that matter now, in their order. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import log

from afresh.domain.words import split, stem, telling
from afresh.engine.draft import Piece
from afresh.engine.page import STUB

NUMBERED = re.compile(r"[+ ]\s*(\d+) ?(.*)")
BEGINNING = 3
NEAR = 0.5
SHORT = 40
"""Lines at the beginning that say what it is; what a line counts for that stands beside one that matters; and characters that are
shown rather than marked as left out."""


def by_need(text: str, spoken: str) -> tuple[int, ...]:
    """The lines of a piece by place: its beginning, then those that say the rarest of the words that the work speaks of, with
    those beside them."""
    lines = text.split("\n")
    wanted = {stem(word) for word in telling(split(spoken))}
    said = [wanted.intersection(map(stem, split(line))) for line in lines]
    common = Counter(word for held in said for word in held)
    own = [sum(log(1 + len(lines) / common[word]) for word in held) for held in said]
    near = [max(own[max(0, at - 2) : at + 3]) * NEAR for at in range(len(lines))]
    score = [own[at] + near[at] + (1_000 if at <= BEGINNING else 0) for at in range(len(lines))]
    return tuple(sorted(range(len(lines)), key=lambda at: (-score[at], at)))


def with_chosen(piece: Piece, keep: int) -> str:
    return "\n".join(told(piece.text.split("\n"), set(piece.first[:keep])))


def told(lines: Sequence[str], chosen: set[int]) -> Iterator[str]:
    """A line stands for each gap, with the numbers of what is missing."""
    gone: list[str] = []
    for at, line in enumerate((*lines, "")):
        if at < len(lines) and at not in chosen:
            gone.append(line)
            continue
        if sum(len(one.strip()) for one in gone) > SHORT:
            yield gap(gone)
        else:
            yield from gone
        gone = []
        if at < len(lines):
            yield line


def gap(lines: Sequence[str]) -> str:
    found = [match for line in lines if (match := STUB.fullmatch(line) or NUMBERED.match(line))]
    if not found:
        return "     …"
    last = found[-1]
    return f"     … {found[0][1]}-{last[2] if STUB.fullmatch(last[0]) else last[1]}"
