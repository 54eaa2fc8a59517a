"""Memory of the steps so far, kept line by line. A new step costs what it says; nothing is read again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from afresh.domain.passage import Passage, Voice
from afresh.domain.trace.entries import Entry, Row, Sighting, entries


@dataclass(frozen=True, slots=True)
class Tally:
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
    entries: tuple[Entry, ...] = ()
    names: Mapping[str, Sighting] = field(default_factory=dict[str, Sighting])
    lines: Mapping[str, Sighting] = field(default_factory=dict[str, Sighting])
    touched: Mapping[str, int] = field(default_factory=dict[str, int])
    """For each file name the last step whose action named it."""
    tallies: Mapping[Voice, Tally] = field(default_factory=dict[Voice, Tally])
    beside: dict[type, object] = field(default_factory=dict[type, object], compare=False, repr=False)
    """What has been worked out from it and is worth keeping while it grows. It saves work and says nothing of its own."""


NOTHING = Trace()


def trace(passages: tuple[Passage, ...], read: Callable[[str], str], before: Trace = NOTHING) -> Trace:
    """What these passages say. `before` saves work and changes nothing: the result is the same without it."""
    if passages == before.passages:
        return before
    length = len(before.passages)
    if passages[:length] == before.passages:
        return grown(
            before, [taken for passage in passages[length:] for taken in entries(passage, read(passage.block))], passages
        )
    known: dict[Passage, dict[int, Entry]] = {}
    for entry in before.entries:
        known.setdefault(entry.passage, {}).setdefault(entry.first, entry)
    again = [fresh(old) for one in passages for old in (known[one].values() if one in known else entries(one, read(one.block)))]
    return grown(NOTHING, again, passages)


def fresh(old: Entry) -> Entry:
    """The same text, before anything of it was met."""
    return Entry(old.passage, old.voice, old.lines, old.found, old.first, size=old.size)


def grown(before: Trace, new: list[Entry], passages: tuple[Passage, ...]) -> Trace:
    names, lines, touched, tallies = dict(before.names), dict(before.lines), dict(before.touched), dict(before.tallies)
    for number, entry in enumerate(new, len(before.entries)):
        entry.number = number
        if entry.voice is Voice.ACTION:
            touched.update(dict.fromkeys(entry.passage.about, entry.step))
        for voice, (count, size) in take(entry, names, lines).items():
            held = tallies.get(voice) or Tally(0, 0, entry.step, entry.step)
            last = entry.step if voice is entry.voice else held.last
            tallies[voice] = Tally(held.lines + count, held.size + size, held.first, last)
    return Trace(passages, (*before.entries, *new), names, lines, touched, tallies, before.beside if before.entries else {})


def take(entry: Entry, names: dict[str, Sighting], lines: dict[str, Sighting]) -> dict[Voice, tuple[int, int]]:
    """Enter each line and each name once; by how many lines and characters each voice has more or less than before."""
    own, here = entry.names, set[str]()
    change: dict[Voice, tuple[int, int]] = {entry.voice: (0, 0)}
    for line in entry.found:
        for name in line.names:
            if name not in own:
                own[name] = names[name] = met(names.get(name), entry)
        key = line.key
        if key not in here:
            here.add(key)
            before = lines.get(key)
            lines[key] = sighting = met(before, entry)
            entry.rows.append(Row(line, sighting))
            count, size = change[entry.voice]
            change[entry.voice] = count + 1, size + len(key)
            if before:
                count, size = change.get(before.entry.voice, (0, 0))
                change[before.entry.voice] = count - 1, size - len(key)
    return change


def met(before: Sighting | None, entry: Entry) -> Sighting:
    return (before or Sighting(entry)).again(entry)
