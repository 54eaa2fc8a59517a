"""Memory of the steps so far, kept line by line. A new step costs what it says; nothing is read again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from afresh.domain.passage import Passage, PassageVoice
from afresh.domain.trace.entries import TraceEntry, TraceRow, LastSighting, entries_from_passage


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
    """For each file name the last step whose action named it."""
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
            touched.update(dict.fromkeys(entry.passage.about, entry.step))
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
