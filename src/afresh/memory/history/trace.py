"""A passage taken apart: its lines, and the names in each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from afresh.core.step_history import Passage, PassageVoice
from afresh.memory.history.names import find_names_and_implied, find_subject

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
    """Its names, and the names that they imply."""
    telling: bool
    """Long enough to be wanted as a whole, not only for its names."""


@dataclass(slots=True, eq=False)
class LastSighting:
    """The last place of a name or a line, and how often it was met before, by voice."""

    entry: "TraceEntry"
    used: int = 0
    seen: int = 0
    spoken: bool = False

    def again(self, entry: "TraceEntry") -> "LastSighting":
        voice = entry.voice
        return LastSighting(
            entry,
            self.used + (voice is PassageVoice.ACTION),
            self.seen + (voice is PassageVoice.OUTPUT),
            self.spoken or voice is PassageVoice.THOUGHT,
        )


@dataclass(slots=True, eq=False)
class TraceRow:
    line: TraceLine
    sighting: LastSighting
    price: float = 0.0
    """Its tokens; 0: not counted yet."""


@dataclass(slots=True, eq=False)
class TraceEntry:
    passage: Passage
    lines: list[str]
    found: list[TraceLine]
    number: int = 0
    """Its place among all entries."""
    rows: list[TraceRow] = field(default_factory=list["TraceRow"])
    names: dict[str, LastSighting] = field(default_factory=dict[str, "LastSighting"])

    @property
    def step(self) -> int:
        return self.passage.step

    @property
    def voice(self) -> PassageVoice:
        return self.passage.voice


def entry_from_passage(passage: Passage, text: str) -> TraceEntry:
    lines = truncate_middle(text, passage.size).splitlines()
    return TraceEntry(passage, lines, list(find_trace_lines(lines)))


def truncate_middle(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    head = length * 2 // 3
    return f"{text[:head]}\n{text[head - length :]}"


def find_trace_lines(lines: Sequence[str]) -> Iterator[TraceLine]:
    for place, raw in enumerate(lines):
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
    """For each subject of files, the last step whose action named one of them."""
    tallies: Mapping[PassageVoice, VoiceTally] = field(default_factory=dict[PassageVoice, VoiceTally])


EMPTY_TRACE = Trace()


def build_trace(passages: tuple[Passage, ...], read: Callable[[str], str], before: Trace = EMPTY_TRACE) -> Trace:
    """What these passages say. `before` saves work and changes nothing: the result is the same without it."""
    if passages == before.passages:
        return before
    length = len(before.passages)
    if passages[:length] == before.passages:
        return extend_trace(before, [entry_from_passage(passage, read(passage.block)) for passage in passages[length:]], passages)
    known = {entry.passage: entry for entry in before.entries}
    again = [
        TraceEntry(passage, known[passage].lines, known[passage].found)
        if passage in known
        else entry_from_passage(passage, read(passage.block))
        for passage in passages
    ]
    return extend_trace(EMPTY_TRACE, again, passages)


def extend_trace(before: Trace, new: list[TraceEntry], passages: tuple[Passage, ...]) -> Trace:
    names, lines, touched, tallies = dict(before.names), dict(before.lines), dict(before.touched), dict(before.tallies)
    for number, entry in enumerate(new, len(before.entries)):
        entry.number = number
        if entry.voice is PassageVoice.ACTION:
            touched.update(dict.fromkeys(map(find_subject, entry.passage.about), entry.step))
        for voice, (count, size) in enter_lines(entry, names, lines).items():
            tally = tallies.get(voice) or VoiceTally(0, 0, entry.step, entry.step)
            last = entry.step if voice is entry.voice else tally.last
            tallies[voice] = VoiceTally(tally.lines + count, tally.size + size, tally.first, last)
    return Trace(passages, (*before.entries, *new), names, lines, touched, tallies)


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
