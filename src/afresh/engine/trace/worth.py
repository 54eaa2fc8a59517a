"""How likely a name or a line is needed by the next action. Every number is policy data of the template.

The log-odds are a sum: what it is (a path, how long), how it was met before (in own actions, outputs, thoughts), and where it
stands last (how many steps ago, in which voice, among how many others, and how lately its files were touched)."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log

from afresh.domain.passage import Voice
from afresh.engine.trace.entries import Entry, Row, Sighting
from afresh.engine.trace.trace import Trace

LOG = [0.0, *[log(number) for number in range(1, 4_096)]]
NEVER = -99.0
COLD = 500
"""Steps after which a file that nobody touched is as cold as it gets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Odds:
    """Weights of one kind of thing, a name or a line."""

    bias: float
    age: float
    age_of_action: float = 0.0
    age_of_thought: float = 0.0
    crowd: float
    heat: float
    hot: float = 0.0
    action: float
    thought: float
    sketch: float
    output: float
    length: float
    used: float
    seen: float
    was_used: float
    was_spoken: float
    was_sketched: float
    path: float
    dotted: float
    capital: float = 0.0

    @property
    def of_voice(self):
        return {
            Voice.ACTION: (self.bias + self.action, self.age + self.age_of_action),
            Voice.OUTPUT: (self.bias + self.output, self.age),
            Voice.THOUGHT: (self.bias + self.thought, self.age + self.age_of_thought),
            Voice.SKETCH: (self.bias + self.sketch, self.age + self.age_of_thought),
        }

    def still(self, what: str, sighting: Sighting) -> float:
        """The part that does not change until it is met again."""
        odds = (
            self.length * logarithm(len(what))
            + self.used * logarithm(1 + sighting.used)
            + self.seen * logarithm(1 + sighting.seen)
        )
        odds += self.was_used * (sighting.used > 0) + self.was_spoken * sighting.spoken + self.was_sketched * sighting.sketched
        odds += self.capital * what[0].isupper()
        return (
            odds + self.path * ("/" in what) + self.dotted * ("." in what) + self.crowd * logarithm(1 + len(sighting.entry.names))
        )

    def moving(self, entry: Entry, age: int, heat: int) -> float:
        """The part that depends on the step that is to come, the same for all that stands in one entry."""
        base, slope = self.of_voice[entry.voice]
        warm = self.hot + self.heat * logarithm(heat) if heat < COLD else 0.0
        return base + slope * logarithm(age) + warm


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    names: Odds
    lines: Odds
    line: float
    """What a line is worth against a name."""
    density: float
    """How much length counts against worth: 1 is worth per token, 0 is worth alone."""


def logarithm(number: int) -> float:
    return LOG[number] if number < len(LOG) else log(number)


def likely(odds: float) -> float:
    return 1 / (1 + exp(-odds))


@dataclass(slots=True, eq=False)
class Order:
    """Rows and names of one entry, best first: worth for the price, odds, price, and the row or the name."""

    key: object
    rows: list[tuple[float, float, int, Row]]
    names: list[tuple[float, float, int, str]]


def ranked(entry: Entry, weights: Weights, price: Callable[[str], int]) -> Order:
    """Computed once for each entry: within an entry the order stays as it is while the steps go by."""
    key = (weights, price)
    if (
        isinstance(entry.order, Order)
        and entry.order.key is not None
        and entry.order.key[0] is weights
        and entry.order.key[1] is price
    ):
        return entry.order
    names: list[tuple[float, float, int, str]] = []
    for name, sighting in entry.names.items():
        sighting.odds, cost = weights.names.still(name, sighting), price(name) + 1
        names.append((likely(sighting.odds) / cost**weights.density, sighting.odds, cost, name))
    names.sort(reverse=True)
    entry.order = Order(key, spread(rows_of(entry, weights, price), entry, weights), names)
    return entry.order


def rows_of(entry: Entry, weights: Weights, price: Callable[[str], int]) -> list[tuple[float, float, int, Row]]:
    rows: list[tuple[float, float, int, Row]] = []
    for row in entry.rows:
        odds = weights.lines.still(row.line.key, row.sighting) if row.line.telling else NEVER
        worth = weights.line * exp(odds) + sum([exp(entry.names[name].odds) for name in row.line.names])
        cost = price(row.line.text) + 1
        rows.append((worth / cost**weights.density, odds, cost, row))
    return sorted(rows, key=first, reverse=True)


def spread(rows: list[tuple[float, float, int, Row]], entry: Entry, weights: Weights) -> list[tuple[float, float, int, Row]]:
    """A name counts for the best row that holds it, so that rows which only repeat names are not opened early."""
    taken, fair = set[str](), list[tuple[float, float, int, Row]]()
    for _, odds, cost, row in rows:
        fresh = [name for name in row.line.names if name not in taken]
        taken.update(fresh)
        worth = weights.line * exp(odds) + sum([exp(entry.names[name].odds) for name in fresh])
        fair.append((worth / cost**weights.density, odds, cost, row))
    return sorted(fair, key=first, reverse=True)


def first(row: tuple[float, float, int, Row]) -> float:
    return row[0]


def heat(trace: Trace, entry: Entry, now: int) -> int:
    """Steps since an action last named one of its files."""
    touched = trace.touched
    last = max([touched.get(name, -COLD) for name in entry.passage.about], default=-COLD)
    return min(COLD, now - last)
