"""A passage taken apart: its lines, and the names in each."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from afresh.domain.passage import Passage, PassageVoice
from afresh.domain.trace.words import find_names_and_implied

CODE_FENCE = re.compile(r"\s*(```|~~~)")
MIN_TELLING_CHARACTERS = 20
MIN_DISTINCT_CHARACTERS = 6
MAX_LINE_CHARACTERS = 1_000
MAX_SHOWN_INDENT_CHARACTERS = 24
"""A line indented further than this is shown without its indentation."""


class TraceLine(NamedTuple):
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
class LastSighting:
    """Where a name or a line was met last, and how often before, by voice."""

    entry: "TraceEntry"
    used: int = 0
    seen: int = 0
    spoken: bool = False
    sketched: bool = False
    force: float = 0.0
    """The still part of a name's odds, under the weights of the last window: see `rank.ranked`."""

    def again(self, entry: "TraceEntry") -> "LastSighting":
        voice = entry.voice
        return LastSighting(
            entry,
            self.used + (voice is PassageVoice.ACTION),
            self.seen + (voice is PassageVoice.OUTPUT),
            self.spoken or voice is PassageVoice.THOUGHT,
            self.sketched or voice is PassageVoice.SKETCH,
        )


@dataclass(slots=True, eq=False)
class TraceRow:
    line: TraceLine
    sighting: LastSighting


@dataclass(slots=True, eq=False)
class TraceEntry:
    """The part of a passage that has one voice."""

    passage: Passage
    voice: PassageVoice
    lines: list[str]
    found: list[TraceLine]
    first: int = 0
    """Number of its first line in the passage."""
    number: int = 0
    """Its place among all entries."""
    size: int = 0
    """Characters."""
    rows: list[TraceRow] = field(default_factory=list["Row"])
    names: dict[str, LastSighting] = field(default_factory=dict[str, "Sighting"])

    @property
    def step(self) -> int:
        return self.passage.step


def entries_from_passage(passage: Passage, text: str) -> Iterator[TraceEntry]:
    """One for each voice; code in a thought is a voice of its own."""
    lines = truncate_middle(text, passage.size).splitlines()
    if passage.voice is not PassageVoice.THOUGHT or ("```" not in text and "~~~" not in text):
        yield TraceEntry(passage, passage.voice, lines, list(find_trace_lines(lines, 0)), 0, size=passage.size)
        return
    start, inside = 0, False
    for number, line in enumerate((*lines, "```")):
        if CODE_FENCE.match(line):
            if number > start:
                part = lines[start:number]
                yield TraceEntry(
                    passage,
                    PassageVoice.SKETCH if inside else PassageVoice.THOUGHT,
                    part,
                    list(find_trace_lines(part, start)),
                    start,
                    size=sum(map(len, part)),
                )
            start, inside = number + 1, not inside


def truncate_middle(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    head = length * 2 // 3
    return f"{text[:head]}\n{text[head - length :]}"


def find_trace_lines(lines: Sequence[str], first: int) -> Iterator[TraceLine]:
    for place, raw in enumerate(lines, first):
        key = raw.strip()
        if len(key) > MAX_LINE_CHARACTERS:
            key = raw = key[:MAX_LINE_CHARACTERS]
        if not key:
            continue
        found, covers = find_names_and_implied(key)
        telling = len(key) >= MIN_TELLING_CHARACTERS and len(set(key)) > MIN_DISTINCT_CHARACTERS
        if found or telling:
            yield TraceLine(
                place, key, raw.rstrip() if len(raw) <= len(key) + MAX_SHOWN_INDENT_CHARACTERS else key, found, covers, telling
            )
