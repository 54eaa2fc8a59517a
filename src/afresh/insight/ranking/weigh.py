"""What speaks for each file, added up with weights that were found on other repositories: text, names, history and graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from afresh.insight.code import Code
from afresh.insight.ranking import graph, past, signals
from afresh.insight.ranking.asked import Asked, asked
from afresh.insight.ranking.meant import meant
from afresh.insight.ranking.question import Question
from afresh.insight.ranking.signals import Scores, levelled

WEIGHTS: Mapping[str, float] = {
    "named": 1.8, "touched": 1.5, "meant": 1.2, "words": 1.0, "central": 1.0, "before": 0.7, "defines": 0.6, "paths": 0.55,
    "uses": 0.2, "lately": 0.15,
}  # fmt: skip
SPREAD: Mapping[str, float] = {"paired": 0.15, "together": 0.1, "imports": 0.1}
SEEDS = 30
"""The best files, from which what they lead to gets a share. In an overview nothing is asked for, so nothing leads anywhere."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """Every file that anything speaks for, and what does."""

    asked: Asked
    saying: signals.Saying
    signals: Mapping[str, Scores]
    spread: Mapping[str, Scores]
    sources: Mapping[str, Mapping[str, str]]
    """Of each kind of spread and file, the seed that gave it most."""
    likest: Sequence[tuple[int, float]] = ()
    total: Scores = field(default_factory=dict[str, float])

    def best(self) -> list[str]:
        return [path for path, _ in ordered(self.total)]


def ordered(scores: Scores) -> list[tuple[str, float]]:
    """The highest first; of the same, by path."""
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def weigh(code: Code, question: Question) -> Weighed:
    about, history = asked(question.text), past.told(question.history)
    files = frozenset(code.files)
    likest, saying = past.alike(history, about), {word: code.words(word) for word in about.words}
    found = {
        "named": signals.named(code, about),
        "meant": meant(code, question.text),
        "touched": {path: 1.0 for path in question.touched if path in files},
        "defines": signals.defines(code, about),
        "words": signals.words(code, about, saying),
        "paths": signals.paths(code, about),
        "before": past.before(history, likest, files),
        "uses": signals.uses(code, about),
        "lately": past.lately(history, files),
    }
    seeds = SEEDS
    if not about.words and not question.touched:
        found["central"], seeds = graph.central(code), 0
    total = levelled(added(found, WEIGHTS))
    spread, sources = spread_from(code, history, dict(ordered(total)[:seeds]), files)
    whole = levelled(added({"": total, **spread}, {"": 1.0, **SPREAD}))
    return Weighed(about, saying, found, spread, sources, likest, whole)


def added(parts: Mapping[str, Scores], weights: Mapping[str, float]) -> Scores:
    total: Scores = {}
    for name, scores in parts.items():
        for path, score in scores.items():
            total[path] = total.get(path, 0.0) + weights[name] * score
    return total


def spread_from(
    code: Code, history: past.Told, seeds: Scores, files: frozenset[str]
) -> tuple[dict[str, Scores], dict[str, dict[str, str]]]:
    """What the best files lead to: by tests and code of one name, by changes in one commit, by imports."""
    spread: dict[str, Scores] = {name: {} for name in SPREAD}
    sources: dict[str, dict[str, tuple[float, str]]] = {name: {} for name in SPREAD}
    for seed, score in seeds.items():
        leads = {
            "together": past.together(history, seed, files),
            "paired": dict.fromkeys(graph.paired(code, seed), 1.0),
            "imports": graph.neighbours(code, seed),
        }
        for name, others in leads.items():
            for other, share in others.items():
                given = share * score**2
                spread[name][other] = spread[name].get(other, 0.0) + given
                sources[name][other] = max(sources[name].get(other, (0.0, "")), (given, seed))
    spread["imports"] = levelled(spread["imports"])
    capped = {name: {path: min(score, 1.0) for path, score in scores.items()} for name, scores in spread.items()}
    return capped, {name: {path: seed for path, (_, seed) in held.items()} for name, held in sources.items()}
