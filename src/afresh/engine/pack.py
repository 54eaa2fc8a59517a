"""Fill a given room with the lines and names that the next action most likely needs: what is shown already counts no more.

Greedy by worth for the price, in levels a third apart, so that nothing has to be sorted: what turns out to be worth less than it
promised moves on to its own level. Entries are opened from their best line on, and little more is looked at than is taken.
"""

import gc
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import exp, log

from afresh.domain.trace import Entry, Row, Trace, implied
from afresh.engine.worth import Moving, Order, Weights, ranked

FINE = 3.0
"""Levels to a factor of e."""
LEVELS = 60
"""What is worth less than the lowest level is not looked at."""
SCRAP, VAIN = 2.0, 40
"""Tokens below which nothing more is looked for, and lines in a row that found no room."""


@dataclass(frozen=True, slots=True)
class Room:
    tokens: float
    names: float = 0.0
    """Of these at most for the index of names."""
    heading: float = 6.0
    """What the line above the first row of an entry costs."""


@dataclass(slots=True)
class Choice:
    rows: list[tuple[Entry, Row]] = field(default_factory=list[tuple[Entry, Row]])
    names: list[str] = field(default_factory=list[str])
    left: float = 0.0


def pack(trace: Trace, now: int, room: Room, covered: set[str], weights: Weights, price: Callable[[str], float]) -> Choice:
    """`covered` are names and lines that stand in the window already; what is chosen is added to it."""
    packing = Packing(trace, weights, covered, room, Choice(left=room.tokens), room.names)
    with uncollected():
        packing.open(now, price)
        if packing.take_all():
            return packing.choice
        for level in range(LEVELS):
            packing.take_lines(level)
            packing.take_names(level)
            if packing.choice.left < SCRAP or packing.vain > VAIN:
                break
    return packing.choice


@contextmanager
def uncollected() -> Generator[None]:
    """Thousands of pairs are made here and none refers back: to look among them for garbage took a quarter of the time."""
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
    orders: list[Order] = field(default_factory=list[Order])
    line_parts: list[float] = field(default_factory=list[float])
    name_parts: list[float] = field(default_factory=list[float])
    """The moving part of the odds, for each entry."""
    lines: list[list[tuple[int, int]]] = field(default_factory=lambda: [[] for _ in range(LEVELS)])
    names: list[list[tuple[int, int]]] = field(default_factory=lambda: [[] for _ in range(LEVELS)])
    """For each level the entries, and from which of their rows and names on, that promise so much."""
    known: list[list[tuple[int, int]]] = field(default_factory=lambda: [[] for _ in range(LEVELS)])
    """Rows whose worth has been looked at."""
    chances: dict[str, float] = field(default_factory=dict[str, float])
    headed: set[int] = field(default_factory=set[int])
    vain: int = 0

    def open(self, now: int, price: Callable[[str], float]) -> None:
        """Each entry is entered on the levels that its best row and its best name promise."""
        weights = self.weights
        lines, names = Moving(weights.lines, self.trace, now), Moving(weights.names, self.trace, now)
        for number, entry in enumerate(self.trace.entries):
            order = entry.order
            if not isinstance(order, Order) or order.weights is not weights or order.price is not price:
                order = ranked(entry, weights, price)
            line, name = lines.of(entry), names.of(entry)
            self.orders.append(order)
            self.line_parts.append(line)
            self.name_parts.append(name)
            if order.rows and (level := int(-FINE * (order.rows[0].value + name))) < LEVELS:
                self.lines[level if level > 0 else 0].append((number, 0))
            if order.names and (level := int(-FINE * (order.names[0].value + name))) < LEVELS:
                self.names[level if level > 0 else 0].append((number, 0))

    def take_all(self) -> bool:
        """Nothing is left out while there is room for everything."""
        if sum([order.total + self.room.heading for order in self.orders]) > self.choice.left:
            return False
        for number, order in enumerate(self.orders):
            entry = self.trace.entries[number]
            for one in order.rows:
                if one.row.line.key not in self.covered and self.trace.lines[one.row.line.key].entry is entry:
                    self.show(number, one.row, one.price if number in self.headed else one.price + self.room.heading)
        return True

    def promise(self, levels: list[list[tuple[int, int]]], number: int, cursor: int, value: float) -> None:
        level = int(-value * FINE)
        if level < LEVELS:
            levels[max(0, level)].append((number, cursor))

    def take_lines(self, level: int) -> None:
        for number, cursor in self.known[level]:
            self.take_row(number, cursor, level)
        covered, current = self.covered, self.trace.lines
        for number, cursor in self.lines[level]:
            rows = self.orders[number].rows
            part, entry = self.name_parts[number], self.trace.entries[number]
            while cursor < len(rows):
                ranked_row = rows[cursor]
                if ranked_row.value + part < -(level + 1) / FINE:
                    self.promise(self.lines, number, cursor, ranked_row.value + part)
                    break
                key = ranked_row.row.line.key
                if key not in covered and current[key].entry is entry:
                    self.take_row(number, cursor, level)
                cursor += 1

    def take_row(self, number: int, cursor: int, level: int) -> None:
        if self.choice.left < SCRAP or self.vain > VAIN:
            return
        _, odds, price, size, row = self.orders[number].rows[cursor]
        line, covered = row.line, self.covered
        worth = self.weights.line / (1.0 + exp(-odds - self.line_parts[number])) if line.telling else 0.0
        for name in line.names:
            if name not in covered:
                worth += self.chances.get(name) or self.chance(name)
        if worth <= 0.0 or line.key in covered:
            return
        real = int((size - log(worth)) * FINE)
        if real > level:
            if real < LEVELS:
                self.known[real].append((number, cursor))
            return
        whole = price if number in self.headed else price + self.room.heading
        if whole > self.choice.left:
            self.vain += 1
            return
        self.vain = 0
        self.show(number, row, whole)

    def show(self, number: int, row: Row, price: float) -> None:
        self.headed.add(number)
        self.covered.add(row.line.key)
        self.covered.update(row.line.covers)
        self.choice.rows.append((self.trace.entries[number], row))
        self.choice.left -= price

    def chance(self, name: str) -> float:
        sighting = self.trace.names[name]
        self.chances[name] = chance = 1.0 / (1.0 + exp(-sighting.odds - self.name_parts[sighting.entry.number]))
        return chance

    def take_names(self, level: int) -> None:
        covered, current = self.covered, self.trace.names
        for number, cursor in self.names[level]:
            names, part, entry = self.orders[number].names, self.name_parts[number], self.trace.entries[number]
            while cursor < len(names):
                value, price, name = names[cursor]
                if value + part < -(level + 1) / FINE:
                    self.promise(self.names, number, cursor, value + part)
                    break
                if self.left_for_names < price or self.choice.left < price:
                    return
                if name not in covered and current[name].entry is entry:
                    covered.update(implied(name))
                    self.choice.names.append(name)
                    self.choice.left -= price
                    self.left_for_names -= price
                cursor += 1
