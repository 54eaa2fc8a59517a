"""The section of earlier steps: lines by expected need, shown in the order in which they happened. And the index of names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from afresh.domain.memory import Memory
from afresh.domain.passage import Voice
from afresh.domain.template import Share
from afresh.domain.trace import Entry, Row, implied, names
from afresh.domain.window import Omission, Section
from afresh.engine.pack import Choice, Room, pack
from afresh.engine.tokens import Gauge
from afresh.engine.worth import Weights

TITLE = "## Work so far (by step: > you did, how it ended; : you thought; = it printed; ids are for `recall`; … left out)"
INDEX_TITLE = "## Names met before, not shown above"
OLD = " (before the last change)"
NUMBERED = re.compile(r"(?:[\w./-]+:)?[+ ]?\s*\d+(?:[:\t→-]| )\s*(\S.*)")
EXCERPT = re.compile(r"[+ ]\s*(\d+) (.*)")
"""A line with its number before it, of any printed file; and one under Files."""
HOLLOW = re.compile(r"~?[\d.]+[A-Za-z]{0,3}(?:/[A-Za-z/]+)?|_[a-z]+_|.*\.\.\..*|s/.*/.*/g?")
ESCAPED = re.compile(r"[nrtm][A-Z]|u00")
FILES = "## Files"
MARKS = {Voice.ACTION: ">", Voice.THOUGHT: ":", Voice.SKETCH: ":"}
ID = 8
"""Letters of a block's id that are enough to find it."""
WORTH_AN_ID = 80
"""Characters of an output below which it says little more than how the action ended."""
MOST_INDEX = 0.15
"""Of the ceiling, at most, whatever a template says: a list of names is no text to work from."""
LATEST = 64
"""Entries that one step can have."""
FILLED = 16
"""Characters of short lines that are shown rather than marked as left out."""
OVER = 1.08
"""Times the room is asked for: what is chosen is priced too high, and names that stand in its lines are not listed."""
SMALLEST, ENOUGH = 60, 8
"""Tokens below which it is not worth while to choose, and the part of what is chosen that would make it worth while again."""


@dataclass(slots=True)
class WorkPage:
    """A section while it is being filled; each filling begins anew, with all the room there is."""

    memory: Memory
    weights: Weights
    counter: Gauge
    share: Share
    index: Share
    limit: int
    room: int
    """Of the whole window: shares are parts of it."""
    covered: frozenset[str] = frozenset()
    spent: int = 0
    choice: Choice = field(default_factory=Choice)
    sections: list[Section] = field(default_factory=list[Section])

    def within(self, room: int) -> int:
        return min(room, self.limit - self.spent)

    @property
    def said_last(self) -> frozenset[str]:
        latest = [entry for entry in self.memory.trace.entries[-LATEST:] if entry.step == self.memory.state.step]
        return frozenset(row.line.key for entry in latest if entry.voice is not Voice.OUTPUT for row in entry.rows)

    def retold(self, text: str) -> frozenset[str]:
        """Lines of the latest steps that stand in this text, be it within a line."""
        steps = {record.step for record in self.memory.state.recent} if text else set[int]()
        latest = [entry for entry in self.memory.trace.entries[-LATEST * len(steps) :] if entry.step in steps]
        keys = [row.line.key for entry in latest for row in entry.rows]
        return frozenset([key for key in keys if key.removeprefix("$ ").removesuffix(" (failed)") in text])

    @property
    def stubs_cost(self) -> int:
        return 0

    def add_stubs(self, room: int) -> int:
        return 0

    def settled(self) -> int:
        return 0

    def claim(self, room: int) -> int:
        return self.take(room)

    def more(self, room: int) -> int:
        """A little more room is not worth another choice."""
        room += (freed := self.spare())
        return (self.take(room) if room * ENOUGH > self.spent else 0) - freed

    def spare(self) -> int:
        """Leave off what other sections show by now."""
        before, apart = self.spent, [one for one in self.choice.rows if one[1].line.key not in self.covered]
        if len(apart) < len(self.choice.rows):
            self.choice.rows = apart
            self.write()
        return before - self.spent

    def take(self, room: int) -> int:
        if not self.memory.trace.entries or room < SMALLEST:
            return 0
        before, allowed = self.spent, self.spent + room
        self.choose(int(allowed * OVER))
        self.write()
        if self.spent > allowed and self.in_order:
            self.choose(allowed)
            self.write()
        while self.spent > allowed and (self.choice.rows or self.choice.names):
            self.give_up(self.spent - allowed)
            self.write()
        return self.spent - before

    @property
    def in_order(self) -> bool:
        """All there is was taken, the newest last: there is no least of it to give up."""
        numbers = [entry.number for entry, _ in self.choice.rows]
        return numbers == sorted(numbers)

    def give_up(self, excess: int) -> None:
        """The rows that were chosen last, as many as make up for what the marks between rows have cost."""
        rows = self.choice.rows or self.choice.names
        while rows and excess >= 0:
            gone = rows.pop()
            excess -= self.counter(gone if isinstance(gone, str) else gone[1].line.text)

    def choose(self, room: int) -> None:
        counter = self.counter
        titles = counter(f"{TITLE}\n\n{INDEX_TITLE}\n") + 4
        left = max(0.0, (room - titles) / counter.factor)
        index = min(left, min(self.index.part * self.room, MOST_INDEX * self.memory.state.budget) / counter.factor)
        now = self.memory.state.step + 1
        heading = counter.price("00= 0a1b2c\n")
        self.choice = pack(self.memory.trace, now, Room(left, index, heading), set(self.covered), self.weights, counter.price)
        self.choice.names = [name for name in self.choice.names if not self.hollow(name)]

    def write(self) -> None:
        counter = self.counter
        text = self.text
        absent = [name for name in self.choice.names if name not in text]
        made = [("names", self.index, index_text(absent)), ("work", self.share, text)]
        self.sections = [Section(name, share.tier, text, counter(text) + 2) for name, share, text in made if text]
        self.spent = sum(section.tokens for section in self.sections)

    def hollow(self, name: str) -> bool:
        """No name but looks like one: a measure, an emphasised word, a text with its middle left out, or a word that the rest of
        an escape sign stands before."""
        if HOLLOW.fullmatch(name):
            return True
        if not ESCAPED.match(name):
            return False
        lines = [row.line.text for row in self.memory.trace.names[name].entry.rows if name in row.line.names]
        return all(re.search(rf"(?:\\|\x1b\[[\d;]*){re.escape(name)}", line) for line in lines)

    @property
    def text(self) -> str:
        shown = sorted(self.choice.rows, key=lambda one: (one[0].number, one[1].line.place))
        changed = self.memory.state.last_change
        return "\n".join([TITLE, *written(shown, changed, self.unshown)]) if shown else ""

    @property
    def unshown(self) -> dict[int, str]:
        """By step the ids of outputs of which no row is shown. The last step tells its own."""
        told, latest = {entry.passage.block for entry, _ in self.choice.rows}, self.memory.state.step
        ids: dict[int, str] = {}
        for one in self.memory.state.passages:
            if one.voice is Voice.OUTPUT and one.size > WORTH_AN_ID and one.step != latest and one.block not in told:
                ids[one.step] = f"{ids.get(one.step, '')} {one.block[:ID]}"
        return ids

    @property
    def omissions(self) -> list[Omission]:
        """By voice: lines that were less likely to be needed than those shown; and what memory itself has let go."""
        own: dict[Voice, list[Entry]] = {}
        for entry in self.memory.trace.entries:
            own.setdefault(entry.voice, []).append(entry)
        found: list[Omission] = []
        for voice, entries in own.items():
            known = sum([len(entry.rows) for entry in entries])
            lines = known - sum([entry.voice is voice for entry, _ in self.choice.rows])
            if lines > 0:
                size = sum([entry.size for entry in entries]) * lines // known
                steps = f"steps {entries[0].step} to {entries[-1].step}"
                found.append(Omission("work", f"{lines:,} lines of {voice}s, {steps}", size // 4, "less likely to be needed"))
        if gone := self.memory.state.forgotten:
            found.append(Omission("work", f"{gone:,} passages of old steps", 0, "no longer in memory, kept in the archive"))
        return found


def written(shown: Sequence[tuple[Entry, Row]], changed: int, ids: Mapping[int, str]) -> Iterator[str]:
    """Rows under a heading for each entry; a mark stands where lines are left out, unless what is missing is shorter than it."""
    former: Entry | None = None
    place = 0
    for entry, row in shown:
        if entry is not former:
            yield heading(entry, row.line.place > entry.first, changed, ids) + row.line.text
        else:
            between = entry.lines[place - entry.first : row.line.place - entry.first]
            if sum(map(len, between)) > FILLED:
                yield "…"
            elif any(between):
                yield from [line.rstrip() for line in between if line.strip()]
            yield row.line.text
        former, place = entry, row.line.place + 1


def heading(entry: Entry, cut: bool, changed: int, ids: Mapping[int, str]) -> str:
    """Stands before an action or a thought on its line; before an output on one of its own, so that its indentation stays.
    An action says how it ended, and by which id its output is to be had if nothing of it is shown."""
    if entry.voice is not Voice.OUTPUT:
        how = f" {entry.passage.ended}" if entry.passage.ended else ""
        found = ids.get(entry.step, "") if entry.voice is Voice.ACTION else ""
        return f"{entry.step}{how}{found}{MARKS[entry.voice]} {'… ' if cut else ''}"
    return f"{entry.step}= {entry.passage.block[:ID]}{OLD if entry.passage.before(changed) else ''}{' …' if cut else ''}\n"


def index_text(found: Sequence[str]) -> str:
    """Paths on one line, identifiers on the next."""
    paths = sorted(name for name in found if "/" in name)
    others = sorted(name for name in found if "/" not in name)
    return "\n".join([INDEX_TITLE, *(" ".join(part) for part in (paths, others) if part)]) if found else ""


def covered(texts: Sequence[str]) -> frozenset[str]:
    """Names and lines that stand in the window already."""
    return frozenset[str]().union(*map(mentioned, texts))


@lru_cache(maxsize=64)
def mentioned(text: str) -> frozenset[str]:
    """Most sections stay as they are from one window to the next."""
    lines = text.splitlines()
    plain = [match[1] for line in lines if (match := NUMBERED.match(line))]
    parts = [part for name in names(text) for part in implied(name)]
    return frozenset(parts).union([line.strip() for line in lines], plain, hits(lines) if text.startswith(FILES) else ())


def hits(lines: Sequence[str]) -> Iterator[str]:
    """The lines of excerpts as searches and printed files show them, with their numbers."""
    path = ""
    for line in lines:
        if match := EXCERPT.fullmatch(line):
            number, code = match[1], match[2]
            yield from (f"{number}: {code.strip()}", f"{path}:{number}: {code.strip()}")
            yield from (f"{start}{number}{mark}{code}" for start, mark in ((f"{path}:", ":"), ("", ":"), ("", "-"), ("", "\t")))
        elif not line.startswith(" "):
            path = line
