"""Memory of the steps so far, kept line by line. A new step costs what it says; nothing is read again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from afresh.domain.passage import Passage, Voice
from afresh.domain.trace.entries import Entry, Row, Sighting, entries


@dataclass(frozen=True, slots=True)
class Trace:
    """Of every name and line where it stands last: a newer copy replaces the older. A value: `grown` makes another one."""

    passages: tuple[Passage, ...] = ()
    entries: tuple[Entry, ...] = ()
    names: Mapping[str, Sighting] = field(default_factory=dict[str, Sighting])
    lines: Mapping[str, Sighting] = field(default_factory=dict[str, Sighting])
    touched: Mapping[str, int] = field(default_factory=dict[str, int])
    """For each file name the last step whose action named it."""


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
    names, lines, touched = dict(before.names), dict(before.lines), dict(before.touched)
    for number, entry in enumerate(new, len(before.entries)):
        entry.number = number
        if entry.voice is Voice.ACTION:
            touched.update(dict.fromkeys(entry.passage.about, entry.step))
        take(entry, names, lines)
    return Trace(passages, (*before.entries, *new), names, lines, touched)


def take(entry: Entry, names: dict[str, Sighting], lines: dict[str, Sighting]) -> None:
    """Enter each line and each name once."""
    own, here = entry.names, set[str]()
    for line in entry.found:
        for name in line.names:
            if name not in own:
                own[name] = names[name] = met(names.get(name), entry)
        if line.key not in here:
            here.add(line.key)
            lines[line.key] = sighting = met(lines.get(line.key), entry)
            entry.rows.append(Row(line, sighting))


def met(before: Sighting | None, entry: Entry) -> Sighting:
    return (before or Sighting(entry)).again(entry)
