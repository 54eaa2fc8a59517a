"""Fill a given room with the lines and names that the next action most likely needs: what is shown already counts no more."""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import exp

from afresh.domain.trace import Entry, Row, Sighting, Trace
from afresh.engine.worth import Order, Weights, heat, likely, ranked

LINES, NAMES, LINE = 0, 1, 2
"""What a place in the heap stands for: the next line of an entry, the next name of an entry, a line whose worth is known."""
SCRAP, VAIN = 6, 24
"""Tokens below which nothing more is looked for, and tries in a row that found no room."""
NEARLY = 0.95
"""A line that is worth so much of the best is taken at once: to look further costs more than it wins."""


@dataclass(frozen=True, slots=True)
class Room:
    tokens: float
    names: float = 0
    """Of these at most for the index of names."""
    heading: float = 6
    """What the line above the first row of an entry costs."""


@dataclass(slots=True)
class Choice:
    rows: list[tuple[Entry, Row]] = field(default_factory=list[tuple[Entry, Row]])
    names: list[str] = field(default_factory=list[str])
    left: float = 0


@dataclass(frozen=True, slots=True)
class Opened:
    """An entry as this window sees it."""

    entry: Entry
    order: Order
    lines: float
    names: float
    """The moving part of the odds of its lines and of its names."""


def pack(trace: Trace, now: int, room: Room, covered: set[str], weights: Weights, price: Callable[[str], float]) -> Choice:
    """Greedy by worth for the price. Entries are opened from their best line on, so that little more is looked at than is taken.

    `covered` are names and lines that stand in the window already; what is chosen is added to it."""
    packing = Packing(trace, weights, covered, room.names, room.heading, Choice(left=room.tokens))
    packing.open(now, price)
    vain = 0
    while packing.heap and packing.choice.left > SCRAP and vain < VAIN:
        vain = 0 if packing.take_next() else vain + 1
    return packing.choice


@dataclass(slots=True)
class Packing:
    trace: Trace
    weights: Weights
    covered: set[str]
    left_for_names: float
    heading: float
    choice: Choice
    opened: list[Opened] = field(default_factory=list[Opened])
    heap: list[tuple[float, int, int, int]] = field(default_factory=list[tuple[float, int, int, int]])
    chances: dict[str, float] = field(default_factory=dict[str, float])
    headed: set[int] = field(default_factory=set[int])

    def open(self, now: int, price: Callable[[str], float]) -> None:
        lines, names = self.weights.lines, self.weights.names
        for number, entry in enumerate(self.trace.entries):
            age, warmth = now - entry.step, heat(self.trace, entry, now)
            one = Opened(
                entry,
                ranked(entry, self.weights, price),
                lines.moving(entry.voice, age, warmth),
                names.moving(entry.voice, age, warmth),
            )
            self.opened.append(one)
            if one.order.rows:
                self.heap.append((self.line_bound(one, 0), LINES, number, 0))
            if one.order.names:
                self.heap.append((self.name_bound(one, 0), NAMES, number, 0))
        heapify(self.heap)

    def line_bound(self, one: Opened, cursor: int) -> float:
        return -one.order.rows[cursor][0] * exp(max(one.lines, one.names))

    def name_bound(self, one: Opened, cursor: int) -> float:
        _, odds, cost, _ = one.order.names[cursor]
        return -likely(odds + one.names) / cost**self.weights.density

    def take_next(self) -> bool:
        """Look at the best there is. False when it was good, and there was no room for it."""
        _, kind, number, cursor = heappop(self.heap)
        one = self.opened[number]
        if kind == NAMES:
            if cursor + 1 < len(one.order.names):
                heappush(self.heap, (self.name_bound(one, cursor + 1), NAMES, number, cursor + 1))
            return self.take_name(one, cursor)
        if kind == LINES and cursor + 1 < len(one.order.rows):
            heappush(self.heap, (self.line_bound(one, cursor + 1), LINES, number, cursor + 1))
        return self.take_line(one, number, cursor)

    def take_name(self, one: Opened, cursor: int) -> bool:
        _, _, cost, name = one.order.names[cursor]
        if name in self.covered or cost > self.left_for_names or self.trace.names[name].entry is not one.entry:
            return True
        if cost > self.choice.left:
            return False
        self.covered.add(name)
        self.choice.names.append(name)
        self.choice.left -= cost
        self.left_for_names -= cost
        return True

    def take_line(self, one: Opened, number: int, cursor: int) -> bool:
        _, odds, cost, row = one.order.rows[cursor]
        line = row.line
        if line.key in self.covered or self.trace.lines[line.key].entry is not one.entry:
            return True
        value = -self.worth(row, odds + one.lines) / cost**self.weights.density
        if self.heap and value > self.heap[0][0] * NEARLY:
            heappush(self.heap, (value, LINE, number, cursor))
            return True
        whole = cost if number in self.headed else cost + self.heading
        if whole > self.choice.left:
            return False
        self.headed.add(number)
        self.covered.add(line.key)
        self.covered.update(line.names)
        self.choice.rows.append((one.entry, row))
        self.choice.left -= whole
        return True

    def worth(self, row: Row, odds: float) -> float:
        """Expected hits: of the line as a whole, and of the names in it that do not stand in the window yet."""
        total = self.weights.line * likely(odds) if row.line.telling else 0.0
        for name in row.line.names:
            if name not in self.covered:
                chance = self.chances.get(name)
                if chance is None:
                    chance = self.chance(name, self.trace.names[name])
                total += chance
        return total

    def chance(self, name: str, sighting: Sighting) -> float:
        self.chances[name] = chance = likely(sighting.odds + self.opened[sighting.entry.number].names)
        return chance
