"""Rows and names of memory by worth, as far as it does not change with the steps: looked at once, kept beside the memory."""

from collections.abc import Callable
from math import exp, log
from operator import itemgetter

from afresh.domain.passage import PassageVoice
from afresh.domain.trace import TraceEntry, TraceRow, LastSighting, Trace
from afresh.engine.worth import LOGARITHMS, HistoryWeights, clamp_odds, compute_voice_odds

WORTHLESS_SCORE = -999.0
TYPICAL_AGE_STEPS = 5
BEST_FIRST_KEY = itemgetter(0, 1, 2)
ENTRIES_BETWEEN_CLEANUPS = 16
"""New entries after which the older ones are rid of what was replaced."""
TokenPrice = Callable[[str], float]


RankedRow = tuple[float, str, tuple[str, ...], float, float, float, LastSighting, TraceRow]
"""The logarithm of its worth for its price, as far as it stays; its key; its names; the still part of the odds of the line as a
whole, none where it is only wanted for its names; its price; the logarithm of what that takes from its worth; where it stands;
the row. Plain tuples here and below: hundreds are taken apart for each window, and those with names take twice as long."""
RankedName = tuple[float, float, str, LastSighting]
"""The same of a name: what it is worth for its price, the price, the name, and where it stands."""
RankedEntry = tuple[TraceEntry, list[RankedRow], list[RankedName]]
"""Rows and names of one entry, best first."""


class HistoryRanking:
    """The order of each entry under these weights and prices. It grows with the trace; without it the result is the same."""

    def __init__(self, weights: HistoryWeights, price: TokenPrice) -> None:
        self._weights, self._price, self._upto, self._tidy = weights, price, 0, 0
        self._last: TraceEntry | None = None
        self.orders: list[RankedEntry] = []
        """Of the entries that have something left which no newer one has replaced."""
        self.total = 0.0
        """What all rows that there ever were would cost."""

    def fits(self, weights: HistoryWeights, price: TokenPrice, trace: Trace) -> bool:
        """The last entry that it knows tells which memory it belongs to: one can grow into two."""
        known = trace.entries[self._upto - 1] if 0 < self._upto <= len(trace.entries) else None
        return self._weights is weights and self._price is price and known is self._last

    def grow(self, trace: Trace) -> None:
        for entry in trace.entries[self._upto :]:
            order = _rank_entry(entry, self._weights, self._price)
            self.total += sum([one[4] for one in order[1]])
            self.orders.append(order)
            self._last = entry
        self._upto = len(trace.entries)
        if self._upto - self._tidy > ENTRIES_BETWEEN_CLEANUPS:
            self._tidy, self.orders = (
                self._upto,
                [held for order in self.orders if any((held := _drop_replaced(order, trace))[1:])],
            )


def rank_history(trace: Trace, weights: HistoryWeights, price: TokenPrice) -> HistoryRanking:
    held = trace.beside.get(HistoryRanking)
    if not isinstance(held, HistoryRanking) or not held.fits(weights, price, trace):
        trace.beside[HistoryRanking] = held = HistoryRanking(weights, price)
    held.grow(trace)
    return held


def _drop_replaced(order: RankedEntry, trace: Trace) -> RankedEntry:
    """Without what newer entries have replaced: it would only be passed over."""
    entry, rows, names = order
    held = [one for one in rows if trace.lines[one[1]] is one[6]]
    return entry, held, [one for one in names if trace.names[one[2]] is one[3]]


def _rank_entry(entry: TraceEntry, weights: HistoryWeights, price: TokenPrice) -> RankedEntry:
    """Computed once for each entry: within an entry the order stays as it is while the steps go by."""
    names: list[RankedName] = []
    still, crowd, density = weights.names.still, len(entry.names), weights.density
    for name, sighting in entry.names.items():
        odds, cost = clamp_odds(still(name, sighting, crowd)), price(name + " ")
        sighting.force = exp(odds)
        names.append((odds - density * log(cost), cost, name, sighting))
    names.sort(key=BEST_FIRST_KEY, reverse=True)
    return entry, _rank_rows(entry, weights, price), names


def _rank_rows(entry: TraceEntry, weights: HistoryWeights, price: TokenPrice) -> list[RankedRow]:
    """A name counts for the best row that holds it, so that rows which only repeat names are not opened early."""
    chances = {name: sighting.force for name, sighting in entry.names.items()}
    share = weights.line * exp(clamp_odds(_compare_voice_odds(weights, entry.voice)))
    rows: list[tuple[float, RankedRow]] = []
    still, crowd = weights.lines.still, len(entry.found)
    for row in entry.rows:
        _, key, text, names, _, telling = row.line
        force = exp(clamp_odds(still(key, row.sighting, crowd))) if telling else 0.0
        cost = price(text + "\n")
        size = weights.density * log(cost)
        worth = share * force + sum([chances[name] for name in names])
        rows.append(
            (log(worth) - size if worth > 0.0 else WORTHLESS_SCORE, (0.0, key, names, force, cost, size, row.sighting, row))
        )
    rows.sort(key=itemgetter(0), reverse=True)
    fair: list[RankedRow] = []
    for _, (_, key, names, force, cost, size, sighting, row) in rows:
        worth = share * force + sum([chances.pop(name, 0.0) for name in names])
        fair.append((log(worth) - size if worth > 0.0 else WORTHLESS_SCORE, key, names, force, cost, size, sighting, row))
    fair.sort(key=itemgetter(0), reverse=True)
    return fair


def _compare_voice_odds(weights: HistoryWeights, voice: PassageVoice) -> float:
    """By how much the odds of lines lie above those of names in this voice, a few steps after."""
    line, name = compute_voice_odds(weights.lines)[voice], compute_voice_odds(weights.names)[voice]
    return line[0] - name[0] + (line[1] - name[1]) * LOGARITHMS[TYPICAL_AGE_STEPS]
