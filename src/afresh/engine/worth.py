"""How likely a name or a line is needed by the next action. Every number is policy data of the template.

The log-odds are a sum: what it is (a path, how long), how it was met before (in own actions, outputs, thoughts), and where it
stands last (how many steps ago, in which voice, among how many others, and how lately its files were touched).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from math import exp, log
from operator import itemgetter
from typing import NamedTuple

from afresh.domain.passage import Voice
from afresh.domain.trace import Entry, Row, Sighting, Trace

LOG = [0.0, *[log(number) for number in range(1, 4_096)]]
LAST = len(LOG) - 1
NEVER, TYPICAL, EXTREME = -99.0, 5, 100.0
COLD = 500
"""Steps after which a file that nobody touched is as cold as it gets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Odds:
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

    def still(self, what: str, sighting: Sighting, crowd: int) -> float:
        """The part that does not change until it is met again; `crowd` is how many of its kind stand beside it."""
        odds = self.length * logarithm(len(what)) + self.crowd * logarithm(1 + crowd)
        if sighting.used:
            odds += self.was_used + self.used * logarithm(1 + sighting.used)
        odds += (
            self.seen * logarithm(1 + sighting.seen) + self.was_spoken * sighting.spoken + self.was_sketched * sighting.sketched
        )
        return odds + self.path * ("/" in what) + self.dotted * ("." in what) + self.capital * what[0].isupper()


@cache
def voices(odds: Odds) -> dict[Voice, tuple[float, float]]:
    """For each voice where its odds begin, and how they fall with the logarithm of the age in steps."""
    thought = odds.age + odds.age_of_thought
    return {
        Voice.ACTION: (odds.bias + odds.action, odds.age + odds.age_of_action),
        Voice.THOUGHT: (odds.bias + odds.thought, thought),
        Voice.SKETCH: (odds.bias + odds.sketch, thought),
        Voice.OUTPUT: (odds.bias + odds.output, odds.age),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    names: Odds
    lines: Odds
    line: float = 1.0
    """What a line is worth against a name."""
    density: float = 1.0
    """How much length counts against worth: 1 is worth per token, 0 is worth alone."""


@lru_cache(maxsize=64)
def weights(policy: tuple[tuple[str, float], ...]) -> Weights:
    """From the template's flat mapping: `name_age`, `line_age`, …; what it does not name is 0."""
    given = dict(policy)
    kinds = {
        kind: Odds(**{field.name: given.get(f"{kind}_{field.name}", 0.0) for field in fields(Odds)}) for kind in ("name", "line")
    }
    return Weights(names=kinds["name"], lines=kinds["line"], line=given.get("line", 1.0), density=given.get("density", 1.0))


def logarithm(number: int) -> float:
    return LOG[number] if number < len(LOG) else log(number)


def likely(odds: float) -> float:
    return 1 / (1 + exp(-bounded(odds)))


def bounded(odds: float) -> float:
    """Templates may say anything; beyond this it makes no difference, and `exp` would not bear it."""
    return -EXTREME if odds < -EXTREME else EXTREME if odds > EXTREME else odds


def heat(trace: Trace, entry: Entry, now: int) -> int:
    """Steps since an action last named one of its files."""
    touched, last = trace.touched, -COLD
    for name in entry.passage.about:
        step = touched.get(name, -COLD)
        if step > last:
            last = step
    return min(COLD, max(1, now - last))


class Moving:
    """The part of the odds that depends on the step that is to come, the same for all that stands in one entry."""

    def __init__(self, odds: Odds, trace: Trace, now: int) -> None:
        self._trace, self._now, self._voices, self._hot, self._heat = trace, now, voices(odds), odds.hot, odds.heat
        self._warmth: dict[tuple[str, ...], float] = {(): 0.0}

    def of(self, entry: Entry) -> float:
        passage = entry.passage
        base, slope = self._voices[entry.voice]
        warmth = self._warmth.get(passage.about)
        if warmth is None:
            steps = heat(self._trace, entry, self._now)
            self._warmth[passage.about] = warmth = self._hot + self._heat * logarithm(steps) if steps < COLD else 0.0
        age = self._now - passage.step
        return bounded(base + slope * LOG[age if 0 < age < LAST else 1 if age <= 0 else LAST] + warmth)


class RankedRow(NamedTuple):
    value: float
    """The logarithm of its worth for its price, as far as it stays."""
    odds: float
    price: float
    size: float
    """The logarithm of what its price takes from its worth."""
    row: Row


class RankedName(NamedTuple):
    value: float
    price: float
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """Rows and names of one entry, best first."""

    weights: Weights
    price: Callable[[str], float]
    rows: Sequence[RankedRow]
    names: Sequence[RankedName]
    total: float
    """What all rows together cost."""


def ranked(entry: Entry, weights: Weights, price: Callable[[str], float]) -> Order:
    """Computed once for each entry: within an entry the order stays as it is while the steps go by."""
    names: list[RankedName] = []
    for name, sighting in entry.names.items():
        sighting.odds, cost = bounded(weights.names.still(name, sighting, len(entry.names))), price(name + " ")
        names.append(RankedName(sighting.odds - weights.density * log(cost), cost, name))
    names.sort(reverse=True)
    rows = spread(entry, weights, price)
    entry.order = made = Order(weights, price, rows, names, sum([one.price for one in rows]))
    return made


def spread(entry: Entry, weights: Weights, price: Callable[[str], float]) -> list[RankedRow]:
    """A name counts for the best row that holds it, so that rows which only repeat names are not opened early."""
    chances = {name: exp(sighting.odds) for name, sighting in entry.names.items()}
    share = weights.line * exp(bounded(lead(weights, entry.voice)))
    rows: list[tuple[float, RankedRow]] = []
    for row in entry.rows:
        odds = bounded(weights.lines.still(row.line.key, row.sighting, len(entry.found))) if row.line.telling else NEVER
        cost = price(row.line.text + "\n")
        size = weights.density * log(cost)
        worth = share * exp(odds) + sum([chances[name] for name in row.line.names])
        rows.append((log(worth) - size, RankedRow(0.0, odds, cost, size, row)))
    rows.sort(key=itemgetter(0), reverse=True)
    fair: list[RankedRow] = []
    for _, one in rows:
        worth = share * exp(one.odds) + sum([chances.pop(name, 0.0) for name in one.row.line.names])
        fair.append(one._replace(value=log(worth) - one.size if worth > 0.0 else NEVER))
    fair.sort(key=itemgetter(0), reverse=True)
    return fair


def lead(weights: Weights, voice: Voice) -> float:
    """By how much the odds of lines lie above those of names in this voice, a few steps after."""
    line, name = voices(weights.lines)[voice], voices(weights.names)[voice]
    return line[0] - name[0] + (line[1] - name[1]) * LOG[TYPICAL]
