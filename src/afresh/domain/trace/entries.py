"""A passage taken apart: its lines, and the names in each."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from afresh.domain.passage import Passage, Voice
from afresh.domain.trace.words import heard

FENCE = re.compile(r"\s*(```|~~~)")
TELLING_LENGTH = 20
VARIED = 6
LONG_LINE = 1_000
INDENT = 24
"""A line indented further than this is shown without its indentation."""


class Candidate(NamedTuple):
    """A line that is worth remembering."""

    place: int
    key: str
    text: str
    names: tuple[str, ...]
    covers: tuple[str, ...]
    """Its names, and what these imply."""
    telling: bool
    """Long enough to be wanted as a whole, not only for its names."""


@dataclass(slots=True, eq=False)
class Sighting:
    """Where a name or a line was met last, and how often before, by voice."""

    entry: "Entry"
    used: int = 0
    seen: int = 0
    spoken: bool = False
    sketched: bool = False
    force: float = 0.0
    """The still part of a name's odds, under the weights of the last window: see `rank.ranked`."""

    def again(self, entry: "Entry") -> "Sighting":
        voice = entry.voice
        return Sighting(
            entry,
            self.used + (voice is Voice.ACTION),
            self.seen + (voice is Voice.OUTPUT),
            self.spoken or voice is Voice.THOUGHT,
            self.sketched or voice is Voice.SKETCH,
        )


@dataclass(slots=True, eq=False)
class Row:
    line: Candidate
    sighting: Sighting


@dataclass(slots=True, eq=False)
class Entry:
    """The part of a passage that has one voice."""

    passage: Passage
    voice: Voice
    lines: list[str]
    found: list[Candidate]
    first: int = 0
    """Number of its first line in the passage."""
    number: int = 0
    """Its place among all entries."""
    size: int = 0
    """Characters."""
    rows: list[Row] = field(default_factory=list["Row"])
    names: dict[str, Sighting] = field(default_factory=dict[str, "Sighting"])

    @property
    def step(self) -> int:
        return self.passage.step


def entries(passage: Passage, text: str) -> Iterator[Entry]:
    """One for each voice; code in a thought is a voice of its own."""
    lines = shortened(text, passage.size).splitlines()
    if passage.voice is not Voice.THOUGHT or ("```" not in text and "~~~" not in text):
        yield Entry(passage, passage.voice, lines, list(candidates(lines, 0)), 0, size=passage.size)
        return
    start, inside = 0, False
    for number, line in enumerate((*lines, "```")):
        if FENCE.match(line):
            if number > start:
                part = lines[start:number]
                yield Entry(
                    passage,
                    Voice.SKETCH if inside else Voice.THOUGHT,
                    part,
                    list(candidates(part, start)),
                    start,
                    size=sum(map(len, part)),
                )
            start, inside = number + 1, not inside


def shortened(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    head = length * 2 // 3
    return f"{text[:head]}\n{text[head - length :]}"


def candidates(lines: Sequence[str], first: int) -> Iterator[Candidate]:
    for place, raw in enumerate(lines, first):
        key = raw.strip()
        if len(key) > LONG_LINE:
            key = raw = key[:LONG_LINE]
        if not key:
            continue
        found, covers = heard(key)
        telling = len(key) >= TELLING_LENGTH and len(set(key)) > VARIED
        if found or telling:
            yield Candidate(place, key, raw.rstrip() if len(raw) <= len(key) + INDENT else key, found, covers, telling)
