"""How likely a name or a line is needed by the next action. Every number is policy data of the template.

The log-odds are a sum: what it is (a path, how long), how it was met before (in own actions, outputs, thoughts), and where it
stands last (how many steps ago, in which voice, among how many others, and how lately its files were touched).
"""

from dataclasses import dataclass, fields
from functools import cache, lru_cache
from math import exp, log

from afresh.domain.passage import Voice
from afresh.domain.trace import Entry, Sighting, Trace

LOG = [0.0, *[log(number) for number in range(1, 4_096)]]
LAST = len(LOG) - 1
EXTREME = 100.0
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
        odds += self.seen * logarithm(1 + sighting.seen) + self.was_spoken * sighting.spoken
        odds += self.was_sketched * sighting.sketched
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

    def __init__(self, weights: Weights, trace: Trace, now: int) -> None:
        self._weights, self._trace, self._now = weights, trace, now
        lines, names = voices(weights.lines), voices(weights.names)
        self._voices = {voice: (*lines[voice], *names[voice]) for voice in lines}
        self._warmth: dict[tuple[str, ...], tuple[float, float]] = {(): (0.0, 0.0)}

    def of(self, entry: Entry) -> tuple[float, float]:
        """Of its lines, and of its names."""
        passage = entry.passage
        line, line_slope, name, name_slope = self._voices[entry.voice]
        warmth = self._warmth.get(passage.about)
        if warmth is None:
            self._warmth[passage.about] = warmth = self.warmth(entry)
        age = self._now - passage.step
        distance = LOG[age if 0 < age < LAST else 1 if age <= 0 else LAST]
        line += line_slope * distance + warmth[0]
        name += name_slope * distance + warmth[1]
        if -EXTREME < line < EXTREME and -EXTREME < name < EXTREME:
            return line, name
        return bounded(line), bounded(name)

    def warmth(self, entry: Entry) -> tuple[float, float]:
        steps = heat(self._trace, entry, self._now)
        if steps >= COLD:
            return 0.0, 0.0
        lines, names, distance = self._weights.lines, self._weights.names, logarithm(steps)
        return lines.hot + lines.heat * distance, names.hot + names.heat * distance
