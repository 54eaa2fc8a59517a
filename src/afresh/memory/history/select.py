"""Fill a given room with the lines that the next action most likely needs, by worth for the price."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import log

from afresh.core.step_history import PassageVoice
from afresh.memory.history.names import list_implied_names
from afresh.memory.history.score import HistoryWeights, NeedOdds
from afresh.memory.history.trace import Trace, TraceEntry, TraceRow

MIN_LEFT_TOKENS = 2.0
"""With fewer nothing more is looked for."""
MAX_MISSES_IN_A_ROW = 40
"""Lines without room, one after another, that end the search."""
ChosenRow = tuple[TraceEntry, TraceRow]


@dataclass(frozen=True, slots=True)
class SelectionBudget:
    tokens: float
    heading: float = 6.0
    """What the line above the first row of an output costs, and what stands before that of an action or a thought."""
    mark: float = 2.0
    names: float = 0.0
    """Of the tokens at most for names that no line shows."""


@dataclass(frozen=True, slots=True)
class _Scale:
    """Weighs lines and names for the coming step."""

    odds: NeedOdds
    weights: HistoryWeights
    price: Callable[[str], float]
    covered: set[str]

    def weigh(self, what: ChosenRow | str) -> float | None:
        """The logarithm of its worth for its price."""
        if isinstance(what, str):
            return log(self.odds.of_name(what)) - self.weights.density * log(self.price(what + " "))
        row, line, covered = what[1], what[1].line, self.covered
        row.price = row.price or self.price(line.text + "\n")
        worth = self.weights.line * self.odds.of_line(line.key, row.sighting) if line.telling else 0.0
        worth += sum([self.odds.of_name(name) for name in line.names if name not in covered])
        return log(worth) - self.weights.density * log(row.price) if worth > 0.0 else None


def select_history(
    trace: Trace,
    now: int,
    room: SelectionBudget,
    covered: set[str],
    weights: HistoryWeights,
    price: Callable[[str], float],
    entries: Sequence[TraceEntry] | None = None,
) -> tuple[list[ChosenRow], list[str]]:
    """Lines and names, the best first. `covered` are those that are shown already and count no more; what is chosen is added to
    it."""
    weigh = _Scale(NeedOdds(weights, trace, now), weights, price, covered).weigh
    candidates = [
        (entry, row)
        for entry in (trace.entries if entries is None else entries)
        for row in entry.rows
        if trace.lines[row.line.key] is row.sighting and row.line.key not in covered
    ]
    unshown = [name for name in trace.names if name not in covered] if room.names else []
    weighed = [(weigh(what), number, what) for number, what in enumerate((*unshown, *reversed(candidates)))]
    waiting = [(-value, number, what) for value, number, what in weighed if value is not None]
    heapify(waiting)
    rows, names, headed = list[ChosenRow](), list[str](), set[int]()
    left, left_for_names, misses = room.tokens, room.names, 0
    while waiting and left >= MIN_LEFT_TOKENS and misses <= MAX_MISSES_IN_A_ROW:
        promised, number, what = heappop(waiting)
        if isinstance(what, str):
            if what not in covered and (cost := price(what + " ")) <= min(left, left_for_names):
                left, left_for_names = left - cost, left_for_names - cost
                covered.update(list_implied_names(what))
                names.append(what)
            continue
        entry, row = what
        if row.line.key in covered or (value := weigh(what)) is None:
            continue
        if waiting and -value > max(promised, waiting[0][0]):
            heappush(waiting, (-value, number, what))
            continue
        cost = row.price
        if entry.number not in headed:
            cost += room.heading if entry.voice is PassageVoice.OUTPUT else room.mark
        if cost > left:
            misses += 1
            continue
        misses, left = 0, left - cost
        headed.add(entry.number)
        covered.add(row.line.key)
        covered.update(row.line.covers)
        rows.append(what)
    shown = {name for _, row in rows for name in row.line.covers}
    return rows, [name for name in names if name not in shown]
