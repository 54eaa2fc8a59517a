"""Fill a given room with the lines and names that the next action most likely needs: what is shown already counts no more.

Greedy by worth for the price, in levels a third apart, so that nothing has to be sorted: what turns out to be worth less than it
promised moves on to its own level. Entries are opened from their best line on, and little more is looked at than is taken.
"""

import gc
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import exp, log

from afresh.domain.passage import Voice
from afresh.domain.trace import Entry, Row, Trace, implied
from afresh.engine.rank import Order, Price, RankedRow, standing
from afresh.engine.worth import Moving, Weights

FINE = 3.0
"""Levels to a factor of e."""
LEVELS = 60
"""What is worth less than the lowest level is not looked at."""
SCRAP = 2.0
VAIN = 40
"""Tokens below which nothing more is looked for, and lines in a row that found no room."""


@dataclass(frozen=True, slots=True)
class Room:
    tokens: float
    names: float = 0.0
    """Of these at most for the index of names."""
    heading: float = 6.0
    """What the line above the first row of an output costs, and what stands before that of an action or a thought."""
    mark: float = 2.0


@dataclass(slots=True)
class Choice:
    rows: list[tuple[Entry, Row]] = field(default_factory=list[tuple[Entry, Row]])
    names: dict[str, float] = field(default_factory=dict[str, float])
    """Each with its price."""
    left: float = 0.0


def pack(trace: Trace, now: int, room: Room, covered: set[str], weights: Weights, price: Price) -> Choice:
    """`covered` are names and lines that stand in the window already; what is chosen is added to it."""
    with uncollected():
        return chosen(trace, now, room, covered, weights, price)


def chosen(trace: Trace, now: int, room: Room, covered: set[str], weights: Weights, price: Price) -> Choice:
    held = standing(trace, weights, price)
    packing = Packing(trace, weights, covered, room, Choice(left=room.tokens), room.names, held.orders)
    if held.total + max(room.heading, room.mark) * len(trace.entries) <= room.tokens:
        packing.take_all()
        return packing.choice
    packing.open(now)
    for level in range(LEVELS):
        packing.take_lines(level)
        packing.take_names(level)
        if packing.full:
            break
    return packing.choice


@contextmanager
def uncollected() -> Generator[None]:
    """Thousands of pairs are made here and none refers back: to look among them for garbage took a quarter of the time. They are
    gone when this ends, so that nobody is called to look for them then."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@dataclass(slots=True)
class Packing:
    trace: Trace
    weights: Weights
    covered: set[str]
    room: Room
    choice: Choice
    left_for_names: float
    orders: list[Order]
    parts: list[float] = field(default_factory=list[float])
    """The moving part of the odds of names, for each order; and what it multiplies the odds of its lines by."""
    forces: list[float] = field(default_factory=list[float])
    name_forces: dict[int, float] = field(default_factory=dict[int, float])
    """The same for names, by the number of the entry."""
    lines: list[list[tuple[int, int]]] = field(default_factory=lambda: [[] for _ in range(LEVELS)])
    names: list[list[tuple[int, int]]] = field(default_factory=lambda: [[] for _ in range(LEVELS)])
    """For each level the orders, and from which of their rows and names on, that promise so much."""
    due: list[list[tuple[int, RankedRow]]] = field(default_factory=lambda: [[] for _ in range(LEVELS)])
    """Rows that are to be weighed."""
    chances: dict[str, float] = field(default_factory=dict[str, float])
    headed: set[int] = field(default_factory=set[int])
    vain: int = 0

    def open(self, now: int) -> None:
        """Each order is entered on the levels that its best row and its best name promise."""
        moving, parts, forces, name_forces = Moving(self.weights, self.trace, now).of, self.parts, self.forces, self.name_forces
        for number, (entry, rows, names) in enumerate(self.orders):
            line, name = moving(entry)
            parts.append(name)
            forces.append(exp(line))
            if rows and (level := int(-FINE * (rows[0][0] + name))) < LEVELS:
                self.lines[level if level > 0 else 0].append((number, 0))
            if names:
                name_forces[entry.number] = exp(name)
                if (level := int(-FINE * (names[0][0] + name))) < LEVELS:
                    self.names[level if level > 0 else 0].append((number, 0))

    def take_all(self) -> None:
        for number, (_, rows, _) in enumerate(self.orders):
            for one in rows:
                if one[1] not in self.covered and self.trace.lines[one[1]] is one[6]:
                    self.show(number, one)

    def take_lines(self, level: int) -> None:
        """What is due on this level is weighed by what of it is not shown yet, and shown if it is worth so much."""
        self.gather(level)
        covered, chances, due, forces, telling = self.covered, self.chances, self.due, self.forces, self.weights.line
        for number, one in due[level]:
            _, key, names, force, _, size, _, _ = one
            if key in covered:
                continue
            force *= forces[number]
            worth = telling * force / (1.0 + force)
            for name in names:
                if name not in covered:
                    worth += chances.get(name) or self.chance(name)
            if worth <= 0.0:
                continue
            real = int((size - log(worth)) * FINE)
            if real <= level:
                if not self.show(number, one):
                    return
            elif real < LEVELS:
                due[real].append((number, one))

    def gather(self, level: int) -> None:
        """Rows that promise as much as this level, in the order of their entries; not those that a newer one has replaced."""
        due, current, orders, parts = self.due[level], self.trace.lines, self.orders, self.parts
        for number, cursor in sorted(self.lines[level]):
            rows, floor = orders[number][1], -(level + 1) / FINE - parts[number]
            for place in range(cursor, len(rows)):
                one = rows[place]
                if one[0] < floor:
                    promise(self.lines, number, place, max(level + 1, int(-FINE * (one[0] + parts[number]))))
                    break
                if current[one[1]] is one[6]:
                    due.append((number, one))

    def show(self, number: int, one: RankedRow) -> bool:
        """If there is room for it; whether there may be room for more."""
        _, key, _, _, price, _, _, row = one
        choice, covered, entry = self.choice, self.covered, self.orders[number][0]
        if number not in self.headed:
            price += self.room.heading if entry.voice is Voice.OUTPUT else self.room.mark
        if price > choice.left:
            self.vain += 1
            return self.vain <= VAIN
        self.vain = 0
        self.headed.add(number)
        covered.add(key)
        covered.update(row.line.covers)
        if not choice.names.keys().isdisjoint(row.line.covers):
            self.unlist(row.line.covers)
        choice.rows.append((entry, row))
        choice.left -= price
        return choice.left >= SCRAP

    def unlist(self, names: Sequence[str]) -> None:
        """A name that stands in a line need not stand in the index."""
        for name in names:
            price = self.choice.names.pop(name, 0.0)
            self.choice.left += price
            self.left_for_names += price

    @property
    def full(self) -> bool:
        return self.choice.left < SCRAP or self.vain > VAIN

    def chance(self, name: str) -> float:
        sighting = self.trace.names[name]
        force = sighting.force * self.name_forces[sighting.entry.number]
        self.chances[name] = chance = force / (1.0 + force)
        return chance

    def take_names(self, level: int) -> None:
        if self.left_for_names < SCRAP:
            return
        covered, current = self.covered, self.trace.names
        for number, cursor in sorted(self.names[level]):
            names, floor = self.orders[number][2], -(level + 1) / FINE - self.parts[number]
            for place in range(cursor, len(names)):
                value, price, name, sighting = names[place]
                if value < floor:
                    promise(self.names, number, place, max(level + 1, int(-FINE * (value + self.parts[number]))))
                    break
                if self.left_for_names < price or self.choice.left < price:
                    return
                if name not in covered and current[name] is sighting:
                    covered.update(implied(name))
                    self.choice.names[name] = price
                    self.choice.left -= price
                    self.left_for_names -= price


def promise(levels: list[list[tuple[int, int]]], number: int, cursor: int, level: int) -> None:
    """Its next row or name is looked at when it is its turn."""
    if level < LEVELS:
        levels[level].append((number, cursor))
