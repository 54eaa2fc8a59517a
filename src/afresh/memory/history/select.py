"""Fill a given room with the lines and names that the next action most likely needs: what is shown already counts no more.

Greedy by worth for the price, in levels a third apart, so that nothing has to be sorted: what turns out to be worth less than it
promised moves on to its own level. Entries are opened from their best line on, and little more is looked at than is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, log

from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY, HistoryPolicy
from afresh.core.step_history import PassageVoice
from afresh.memory.history.names import list_implied_names
from afresh.memory.history.score import HistoryWeights, RankedEntry, RankedRow, StepOdds, TokenPrice, rank_history
from afresh.memory.history.trace import Trace, TraceEntry, TraceRow

LEVELS_PER_E_FACTOR = 3.0
"""Levels to a factor of e."""
LEVEL_COUNT = 60
"""What is worth less than the lowest level is not looked at."""


@dataclass(frozen=True, slots=True)
class SelectionBudget:
    tokens: float
    names: float = 0.0
    """Of these at most for the index of names."""
    heading: float = 6.0
    """What the line above the first row of an output costs, and what stands before that of an action or a thought."""
    mark: float = 2.0
    policy: HistoryPolicy = DEFAULT_CONTEXT_POLICY.history


@dataclass(slots=True)
class HistorySelection:
    rows: list[tuple[TraceEntry, TraceRow]] = field(default_factory=list[tuple[TraceEntry, TraceRow]])
    names: dict[str, float] = field(default_factory=dict[str, float])
    """Each with its price."""
    left: float = 0.0


def select_history(
    trace: Trace, now: int, room: SelectionBudget, covered: set[str], weights: HistoryWeights, price: TokenPrice
) -> HistorySelection:
    """`covered` are names and lines that stand in the window already; what is chosen is added to it."""
    held = rank_history(trace, weights, price)
    packing = HistorySelector(trace, weights, covered, room, HistorySelection(left=room.tokens), room.names, held.orders)
    if held.total + max(room.heading, room.mark) * len(trace.entries) <= room.tokens:
        packing.take_all()
        return packing.choice
    packing.select(now)
    return packing.choice


def select_step_lines(
    trace: Trace, room: SelectionBudget, covered: set[str], weights: HistoryWeights, price: TokenPrice
) -> HistorySelection:
    """The same of the latest step alone."""
    latest = trace.entries[-1].step if trace.entries else 0
    orders = [order for order in rank_history(trace, weights, price).orders if order[0].step == latest]
    packing = HistorySelector(trace, weights, covered, room, HistorySelection(left=room.tokens), room.names, orders)
    packing.select(latest + 1)
    return packing.choice


@dataclass(slots=True)
class StepForces:
    """What the coming step makes of the odds, for each order."""

    parts: list[float] = field(default_factory=list[float])
    """The moving part of the odds of its names."""
    lines: list[float] = field(default_factory=list[float])
    """What the odds of its lines are multiplied by."""
    names: dict[int, float] = field(default_factory=dict[int, float])
    """The same for names, by the number of the entry."""


@dataclass(slots=True)
class SelectionLevels:
    """What is looked at on each level."""

    lines: list[list[tuple[int, int]]] = field(default_factory=lambda: [[] for _ in range(LEVEL_COUNT)])
    names: list[list[tuple[int, int]]] = field(default_factory=lambda: [[] for _ in range(LEVEL_COUNT)])
    """The orders, and from which of their rows and names on, that promise so much."""
    due: list[list[tuple[int, RankedRow]]] = field(default_factory=lambda: [[] for _ in range(LEVEL_COUNT)])
    """Rows that are to be weighed."""


@dataclass(slots=True)
class HistorySelector:
    trace: Trace
    weights: HistoryWeights
    covered: set[str]
    room: SelectionBudget
    choice: HistorySelection
    left_for_names: float
    orders: list[RankedEntry]
    forces: StepForces = field(default_factory=StepForces)
    levels: SelectionLevels = field(default_factory=SelectionLevels)
    chances: dict[str, float] = field(default_factory=dict[str, float])
    headed: set[int] = field(default_factory=set[int])
    vain: int = 0

    def select(self, now: int) -> None:
        self.open(now)
        for level in range(LEVEL_COUNT):
            self.take_lines(level)
            self.take_names(level)
            if self.full:
                break

    def open(self, now: int) -> None:
        """Each order is entered on the levels that its best row and its best name promise."""
        moving, levels = StepOdds(self.weights, self.trace, now).of, self.levels
        parts, forces, name_forces = self.forces.parts, self.forces.lines, self.forces.names
        for number, (entry, rows, names) in enumerate(self.orders):
            line, name = moving(entry)
            parts.append(name)
            forces.append(exp(line))
            if rows and (level := int(-LEVELS_PER_E_FACTOR * (rows[0][0] + name))) < LEVEL_COUNT:
                levels.lines[level if level > 0 else 0].append((number, 0))
            if names:
                name_forces[entry.number] = exp(name)
                if (level := int(-LEVELS_PER_E_FACTOR * (names[0][0] + name))) < LEVEL_COUNT:
                    levels.names[level if level > 0 else 0].append((number, 0))

    def take_all(self) -> None:
        for number, (_, rows, _) in enumerate(self.orders):
            for one in rows:
                if one[1] not in self.covered and self.trace.lines[one[1]] is one[6]:
                    self.show(number, one)

    def take_lines(self, level: int) -> None:
        """What is due on this level is weighed by what of it is not shown yet, and shown if it is worth so much."""
        self.gather(level)
        covered, chances, telling = self.covered, self.chances, self.weights.line
        due, forces = self.levels.due, self.forces.lines
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
            real = int((size - log(worth)) * LEVELS_PER_E_FACTOR)
            if real <= level:
                if not self.show(number, one):
                    return
            elif real < LEVEL_COUNT:
                due[real].append((number, one))

    def gather(self, level: int) -> None:
        """Rows that promise as much as this level, in the order of their entries; not those that a newer one has replaced."""
        due, current, orders, parts = self.levels.due[level], self.trace.lines, self.orders, self.forces.parts
        for number, cursor in sorted(self.levels.lines[level]):
            rows, floor = orders[number][1], -(level + 1) / LEVELS_PER_E_FACTOR - parts[number]
            for place in range(cursor, len(rows)):
                one = rows[place]
                if one[0] < floor:
                    _schedule_next(
                        self.levels.lines, number, place, max(level + 1, int(-LEVELS_PER_E_FACTOR * (one[0] + parts[number])))
                    )
                    break
                if current[one[1]] is one[6]:
                    due.append((number, one))

    def show(self, number: int, one: RankedRow) -> bool:
        """If there is room for it; whether there may be room for more."""
        _, key, _, _, price, _, _, row = one
        choice, covered, entry = self.choice, self.covered, self.orders[number][0]
        if number not in self.headed:
            price += self.room.heading if entry.voice is PassageVoice.OUTPUT else self.room.mark
        if price > choice.left:
            self.vain += 1
            return self.vain <= self.room.policy.max_misses_in_a_row
        self.vain = 0
        self.headed.add(number)
        covered.add(key)
        covered.update(row.line.covers)
        if not choice.names.keys().isdisjoint(row.line.covers):
            self.unlist(row.line.covers)
        choice.rows.append((entry, row))
        choice.left -= price
        return choice.left >= self.room.policy.min_left_tokens

    def unlist(self, names: Sequence[str]) -> None:
        """A name that stands in a line need not stand in the index."""
        for name in names:
            price = self.choice.names.pop(name, 0.0)
            self.choice.left += price
            self.left_for_names += price

    @property
    def full(self) -> bool:
        return self.choice.left < self.room.policy.min_left_tokens or self.vain > self.room.policy.max_misses_in_a_row

    def chance(self, name: str) -> float:
        sighting = self.trace.names[name]
        force = sighting.force * self.forces.names[sighting.entry.number]
        self.chances[name] = chance = force / (1.0 + force)
        return chance

    def take_names(self, level: int) -> None:
        if self.left_for_names < self.room.policy.min_left_tokens:
            return
        covered, current = self.covered, self.trace.names
        for number, cursor in sorted(self.levels.names[level]):
            names, floor = self.orders[number][2], -(level + 1) / LEVELS_PER_E_FACTOR - self.forces.parts[number]
            for place in range(cursor, len(names)):
                value, price, name, sighting = names[place]
                if value < floor:
                    later = int(-LEVELS_PER_E_FACTOR * (value + self.forces.parts[number]))
                    _schedule_next(self.levels.names, number, place, max(level + 1, later))
                    break
                if self.left_for_names < price or self.choice.left < price:
                    return
                if name not in covered and current[name] is sighting:
                    covered.update(list_implied_names(name))
                    self.choice.names[name] = price
                    self.choice.left -= price
                    self.left_for_names -= price


def _schedule_next(levels: list[list[tuple[int, int]]], number: int, cursor: int, level: int) -> None:
    """Its next row or name is looked at when it is its turn."""
    if level < LEVEL_COUNT:
        levels[level].append((number, cursor))
