"""How likely a name or a line is needed by the next action. Every number is policy data of the template.

The log-odds are a sum: what it is (a path, how long), how it was met before (in own actions, outputs, thoughts), and where it
stands last (how many steps ago, in which voice, among how many others, and how lately its files were touched).
"""

from dataclasses import dataclass, fields
from functools import lru_cache
from math import exp, log

from afresh.core.step_history import PassageVoice
from afresh.memory.history.names import find_subject
from afresh.memory.history.trace import LastSighting, Trace, TraceEntry

MAX_LOG_ODDS = 100.0
COLD_AFTER_STEPS = 500
"""A file that no action named for so long is as cold as it gets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsWeights:
    """Weights of one kind of thing, a name or a line."""

    bias: float = 0.0
    action: float = 0.0
    thought: float = 0.0
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
    path: float = 0.0
    dotted: float = 0.0
    capital: float = 0.0

    def score_itself(self, what: str, sighting: LastSighting, crowd: int) -> float:
        """The part that does not change until it is met again; `crowd` is how many of its kind stand beside it."""
        odds = self.length * log(len(what)) + self.crowd * log(1 + crowd)
        if sighting.used:
            odds += self.was_used + self.used * log(1 + sighting.used)
        odds += self.seen * log(1 + sighting.seen) + self.was_spoken * sighting.spoken
        return odds + self.path * ("/" in what) + self.dotted * ("." in what) + self.capital * what[0].isupper()

    def score_place(self, voice: PassageVoice, age: int) -> float:
        """Where it stands last, and how many steps ago."""
        distance = log(max(1, age))
        match voice:
            case PassageVoice.ACTION:
                return self.bias + self.action + (self.age + self.age_of_action) * distance
            case PassageVoice.THOUGHT:
                return self.bias + self.thought + (self.age + self.age_of_thought) * distance
            case PassageVoice.OUTPUT:
                return self.bias + self.output + self.age * distance


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryWeights:
    names: OddsWeights
    lines: OddsWeights
    line: float = 1.0
    """What a line is worth against a name."""
    density: float = 1.0
    """How much length counts against worth: 1 is worth per token, 0 is worth alone."""
    names_share: float = 0.0
    """Part of the room for names that no line shows. In a tree that can be searched there are none."""


@lru_cache(maxsize=64)
def weights_from_policy(policy: tuple[tuple[str, float], ...]) -> HistoryWeights:
    """From the template's flat mapping: `name_age`, `line_age`, …; what it does not name is 0."""
    given = dict(policy)
    names, lines = (
        OddsWeights(**{field.name: given.get(f"{thing}_{field.name}", 0.0) for field in fields(OddsWeights)})
        for thing in ("name", "line")
    )
    return HistoryWeights(
        names=names,
        lines=lines,
        line=given.get("line", 1.0),
        density=given.get("density", 1.0),
        names_share=given.get("names_share", 0.0),
    )


def to_probability(odds: float) -> float:
    """Templates may say anything; beyond the bound it makes no difference, and `exp` would not bear it."""
    return 1 / (1 + exp(-max(-MAX_LOG_ODDS, min(MAX_LOG_ODDS, odds))))


class NeedOdds:
    """The odds under these weights before the step `now`."""

    def __init__(self, weights: HistoryWeights, trace: Trace, now: int) -> None:
        self._weights, self._trace, self._now = weights, trace, now
        self._places: dict[int, tuple[float, float]] = {}
        self._names: dict[str, float] = {}

    def of_line(self, key: str, sighting: LastSighting) -> float:
        entry = sighting.entry
        return to_probability(self._weights.lines.score_itself(key, sighting, len(entry.found)) + self._score_entry(entry)[0])

    def of_name(self, name: str) -> float:
        chance = self._names.get(name)
        if chance is None:
            sighting = self._trace.names[name]
            odds = self._weights.names.score_itself(name, sighting, len(sighting.entry.names))
            self._names[name] = chance = to_probability(odds + self._score_entry(sighting.entry)[1])
        return chance

    def _score_entry(self, entry: TraceEntry) -> tuple[float, float]:
        """The part that is the same for all that stands in one entry: of lines, and of names."""
        place = self._places.get(entry.number)
        if place is None:
            lines, names, age = self._weights.lines, self._weights.names, self._now - entry.step
            line, name = lines.score_place(entry.voice, age), names.score_place(entry.voice, age)
            if (steps := self._count_steps_since_touch(entry)) < COLD_AFTER_STEPS:
                line += lines.hot + lines.heat * log(steps)
                name += names.hot + names.heat * log(steps)
            self._places[entry.number] = place = line, name
        return place

    def _count_steps_since_touch(self, entry: TraceEntry) -> int:
        """Steps since an action last named one of its files or their companions."""
        touched = self._trace.touched
        steps = [touched.get(find_subject(name), -COLD_AFTER_STEPS) for name in entry.passage.about]
        last = max(steps, default=-COLD_AFTER_STEPS)
        return max(1, self._now - last)
