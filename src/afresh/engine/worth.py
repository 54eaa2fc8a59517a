"""How likely a name or a line is needed by the next action. Every number is policy data of the template.

The log-odds are a sum: what it is (a path, how long), how it was met before (in own actions, outputs, thoughts), and where it
stands last (how many steps ago, in which voice, among how many others, and how lately its files were touched).
"""

from dataclasses import dataclass, fields
from functools import cache, lru_cache
from math import exp, log

from afresh.domain.passage import PassageVoice
from afresh.domain.trace import TraceEntry, LastSighting, Trace

LOGARITHMS = [0.0, *[log(number) for number in range(1, 4_096)]]
MAX_TABLED_NUMBER = len(LOGARITHMS) - 1
MAX_LOG_ODDS = 100.0
COLD_AFTER_STEPS = 500
"""Steps after which a file that nobody touched is as cold as it gets."""


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


@lru_cache(maxsize=64)
def weights_from_policy(policy: tuple[tuple[str, float], ...]) -> HistoryWeights:
    """From the template's flat mapping: `name_age`, `line_age`, …; what it does not name is 0."""
    given = dict(policy)
    kinds = {
        kind: OddsWeights(**{field.name: given.get(f"{kind}_{field.name}", 0.0) for field in fields(OddsWeights)})
        for kind in ("name", "line")
    }
    return HistoryWeights(
        names=kinds["name"], lines=kinds["line"], line=given.get("line", 1.0), density=given.get("density", 1.0)
    )


def compute_logarithm(number: int) -> float:
    return LOGARITHMS[number] if number < len(LOGARITHMS) else log(number)


def to_probability(odds: float) -> float:
    return 1 / (1 + exp(-clamp_odds(odds)))


def clamp_odds(odds: float) -> float:
    """Templates may say anything; beyond this it makes no difference, and `exp` would not bear it."""
    return -MAX_LOG_ODDS if odds < -MAX_LOG_ODDS else MAX_LOG_ODDS if odds > MAX_LOG_ODDS else odds


def _count_steps_since_touch(trace: Trace, entry: TraceEntry, now: int) -> int:
    """Steps since an action last named one of its files."""
    touched, last = trace.touched, -COLD_AFTER_STEPS
    for name in entry.passage.about:
        step = touched.get(name, -COLD_AFTER_STEPS)
        if step > last:
            last = step
    return min(COLD_AFTER_STEPS, max(1, now - last))


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
        steps = _count_steps_since_touch(self._trace, entry, self._now)
        if steps >= COLD_AFTER_STEPS:
            return 0.0, 0.0
        lines, names, distance = self._weights.lines, self._weights.names, compute_logarithm(steps)
        return lines.hot + lines.heat * distance, names.hot + names.heat * distance
