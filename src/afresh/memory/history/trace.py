"""A passage taken apart: its lines, and the names in each."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from afresh.core.step_history import Passage, PassageVoice
from afresh.memory.history.names import find_names_and_implied, find_subject

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
    rows: list[TraceRow] = field(default_factory=list["TraceRow"])
    names: dict[str, LastSighting] = field(default_factory=dict[str, "LastSighting"])

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


@dataclass(frozen=True, slots=True)
class VoiceTally:
    """Lines of one voice that no newer line has replaced."""

    lines: int
    size: int
    """Characters."""
    first: int
    last: int
    """Steps of the first and the last entry."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Of every name and line where it stands last: a newer copy replaces the older. A value: `grown` makes another one."""

    passages: tuple[Passage, ...] = ()
    entries: tuple[TraceEntry, ...] = ()
    names: Mapping[str, LastSighting] = field(default_factory=dict[str, LastSighting])
    lines: Mapping[str, LastSighting] = field(default_factory=dict[str, LastSighting])
    touched: Mapping[str, int] = field(default_factory=dict[str, int])
    """For each subject of files the last step whose action named one of them."""
    tallies: Mapping[PassageVoice, VoiceTally] = field(default_factory=dict[PassageVoice, VoiceTally])
    beside: dict[type, object] = field(default_factory=dict[type, object], compare=False, repr=False)
    """What has been worked out from it and is worth keeping while it grows. It saves work and says nothing of its own."""


EMPTY_TRACE = Trace()


def build_trace(passages: tuple[Passage, ...], read: Callable[[str], str], before: Trace = EMPTY_TRACE) -> Trace:
    """What these passages say. `before` saves work and changes nothing: the result is the same without it."""
    if passages == before.passages:
        return before
    length = len(before.passages)
    if passages[:length] == before.passages:
        return extend_trace(
            before,
            [taken for passage in passages[length:] for taken in entries_from_passage(passage, read(passage.block))],
            passages,
        )
    known: dict[Passage, dict[int, TraceEntry]] = {}
    for entry in before.entries:
        known.setdefault(entry.passage, {}).setdefault(entry.first, entry)
    again = [
        copy_unmet_entry(old)
        for one in passages
        for old in (known[one].values() if one in known else entries_from_passage(one, read(one.block)))
    ]
    return extend_trace(EMPTY_TRACE, again, passages)


def copy_unmet_entry(old: TraceEntry) -> TraceEntry:
    """The same text, before anything of it was met."""
    return TraceEntry(old.passage, old.voice, old.lines, old.found, old.first, size=old.size)


def extend_trace(before: Trace, new: list[TraceEntry], passages: tuple[Passage, ...]) -> Trace:
    names, lines, touched, tallies = dict(before.names), dict(before.lines), dict(before.touched), dict(before.tallies)
    for number, entry in enumerate(new, len(before.entries)):
        entry.number = number
        if entry.voice is PassageVoice.ACTION:
            touched.update(dict.fromkeys(map(find_subject, entry.passage.about), entry.step))
        for voice, (count, size) in enter_lines(entry, names, lines).items():
            held = tallies.get(voice) or VoiceTally(0, 0, entry.step, entry.step)
            last = entry.step if voice is entry.voice else held.last
            tallies[voice] = VoiceTally(held.lines + count, held.size + size, held.first, last)
    return Trace(passages, (*before.entries, *new), names, lines, touched, tallies, before.beside if before.entries else {})


def enter_lines(
    entry: TraceEntry, names: dict[str, LastSighting], lines: dict[str, LastSighting]
) -> dict[PassageVoice, tuple[int, int]]:
    """Enter each line and each name once; by how many lines and characters each voice has more or less than before."""
    own, here = entry.names, set[str]()
    change: dict[PassageVoice, tuple[int, int]] = {entry.voice: (0, 0)}
    for line in entry.found:
        for name in line.names:
            if name not in own:
                own[name] = names[name] = count_sighting(names.get(name), entry)
        key = line.key
        if key not in here:
            here.add(key)
            before = lines.get(key)
            lines[key] = sighting = count_sighting(before, entry)
            entry.rows.append(TraceRow(line, sighting))
            count, size = change[entry.voice]
            change[entry.voice] = count + 1, size + len(key)
            if before:
                count, size = change.get(before.entry.voice, (0, 0))
                change[before.entry.voice] = count - 1, size - len(key)
    return change


def count_sighting(before: LastSighting | None, entry: TraceEntry) -> LastSighting:
    return (before or LastSighting(entry)).again(entry)
