"""How likely a name or a line is needed by the next action. Every number is policy data of the template.

The log-odds are a sum: what it is (a path, how long), how it was met before (in own actions, outputs, thoughts), and where it
stands last (how many steps ago, in which voice, among how many others, and how lately its files were touched).
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from math import exp, log
from operator import itemgetter

from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.core.step_history import PassageVoice
from afresh.memory.history.names import find_subject
from afresh.memory.history.trace import LastSighting, Trace, TraceEntry, TraceRow

LOGARITHMS = [0.0, *[log(number) for number in range(1, 4_096)]]
MAX_TABLED_NUMBER = len(LOGARITHMS) - 1
MAX_LOG_ODDS = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsWeights:
    """Weights of one kind of thing, a name or a line."""

    bias: float = 0.0
    action: float = 0.0
    thought: float = 0.0
    sketch: float = 0.0
    output: float = 0.0
    age: float = 0.0
    age_of_action: float = 0.0
    age_of_thought: float = 0.0
    crowd: float = 0.0
    hot: float = 0.0
    heat: float = 0.0
    length: float = 0.0
    used: float = 0.0
    seen: float = 0.0
    was_used: float = 0.0
    was_spoken: float = 0.0
    was_sketched: float = 0.0
    path: float = 0.0
    dotted: float = 0.0
    capital: float = 0.0

    def still(self, what: str, sighting: LastSighting, crowd: int) -> float:
        """The part that does not change until it is met again; `crowd` is how many of its kind stand beside it."""
        odds = self.length * compute_logarithm(len(what)) + self.crowd * compute_logarithm(1 + crowd)
        if sighting.used:
            odds += self.was_used + self.used * compute_logarithm(1 + sighting.used)
        odds += self.seen * compute_logarithm(1 + sighting.seen) + self.was_spoken * sighting.spoken
        odds += self.was_sketched * sighting.sketched
        return odds + self.path * ("/" in what) + self.dotted * ("." in what) + self.capital * what[0].isupper()


@cache
def compute_voice_odds(odds: OddsWeights) -> dict[PassageVoice, tuple[float, float]]:
    """For each voice where its odds begin, and how they fall with the logarithm of the age in steps."""
    thought = odds.age + odds.age_of_thought
    return {
        PassageVoice.ACTION: (odds.bias + odds.action, odds.age + odds.age_of_action),
        PassageVoice.THOUGHT: (odds.bias + odds.thought, thought),
        PassageVoice.SKETCH: (odds.bias + odds.sketch, thought),
        PassageVoice.OUTPUT: (odds.bias + odds.output, odds.age),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryWeights:
    names: OddsWeights
    lines: OddsWeights
    line: float = 1.0
    """What a line is worth against a name."""
    density: float = 1.0
    """How much length counts against worth: 1 is worth per token, 0 is worth alone."""
    cold_after_steps: int = DEFAULT_CONTEXT_POLICY.history.cold_after_steps


@lru_cache(maxsize=64)
def weights_from_policy(
    policy: tuple[tuple[str, float], ...], cold_after_steps: int = DEFAULT_CONTEXT_POLICY.history.cold_after_steps
) -> HistoryWeights:
    """From the template's flat mapping: `name_age`, `line_age`, …; what it does not name is 0."""
    given = dict(policy)
    names, lines = (
        OddsWeights(**{one.name: given.get(f"{thing}_{one.name}", 0.0) for one in fields(OddsWeights)})
        for thing in ("name", "line")
    )
    return HistoryWeights(
        names=names,
        lines=lines,
        line=given.get("line", 1.0),
        density=given.get("density", 1.0),
        cold_after_steps=cold_after_steps,
    )


def compute_logarithm(number: int) -> float:
    return LOGARITHMS[number] if number < len(LOGARITHMS) else log(number)


def to_probability(odds: float) -> float:
    return 1 / (1 + exp(-clamp_odds(odds)))


def clamp_odds(odds: float) -> float:
    """Templates may say anything; beyond this it makes no difference, and `exp` would not bear it."""
    return -MAX_LOG_ODDS if odds < -MAX_LOG_ODDS else MAX_LOG_ODDS if odds > MAX_LOG_ODDS else odds


def _count_steps_since_touch(trace: Trace, entry: TraceEntry, now: int, most: int) -> int:
    """Steps since an action last named one of its files or their companions, `most` if that is too long ago."""
    touched, last = trace.touched, -most
    for name in entry.passage.about:
        step = touched.get(find_subject(name), -most)
        if step > last:
            last = step
    return min(most, max(1, now - last))


class StepOdds:
    """The part of the odds that depends on the step that is to come, the same for all that stands in one entry."""

    def __init__(self, weights: HistoryWeights, trace: Trace, now: int) -> None:
        self._weights, self._trace, self._now = weights, trace, now
        lines, names = compute_voice_odds(weights.lines), compute_voice_odds(weights.names)
        self._voices = {voice: (*lines[voice], *names[voice]) for voice in lines}
        self._warmth: dict[tuple[str, ...], tuple[float, float]] = {(): (0.0, 0.0)}

    def of(self, entry: TraceEntry) -> tuple[float, float]:
        """Of its lines, and of its names."""
        passage = entry.passage
        line, line_slope, name, name_slope = self._voices[entry.voice]
        warmth = self._warmth.get(passage.about)
        if warmth is None:
            self._warmth[passage.about] = warmth = self.warmth(entry)
        age = self._now - passage.step
        distance = LOGARITHMS[age if 0 < age < MAX_TABLED_NUMBER else 1 if age <= 0 else MAX_TABLED_NUMBER]
        line += line_slope * distance + warmth[0]
        name += name_slope * distance + warmth[1]
        if -MAX_LOG_ODDS < line < MAX_LOG_ODDS and -MAX_LOG_ODDS < name < MAX_LOG_ODDS:
            return line, name
        return clamp_odds(line), clamp_odds(name)

    def warmth(self, entry: TraceEntry) -> tuple[float, float]:
        cold = self._weights.cold_after_steps
        steps = _count_steps_since_touch(self._trace, entry, self._now, cold)
        if steps >= cold:
            return 0.0, 0.0
        lines, names, distance = self._weights.lines, self._weights.names, compute_logarithm(steps)
        return lines.hot + lines.heat * distance, names.hot + names.heat * distance


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
    share = weights.line * exp(clamp_odds(_compare_odds(weights, entry)))
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


def _compare_odds(weights: HistoryWeights, entry: TraceEntry) -> float:
    """By how much the odds of lines lie above those of names in such an entry, a few steps after."""
    line, name = compute_voice_odds(weights.lines)[entry.voice], compute_voice_odds(weights.names)[entry.voice]
    return line[0] - name[0] + (line[1] - name[1]) * LOGARITHMS[TYPICAL_AGE_STEPS]
