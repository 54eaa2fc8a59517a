"""What earlier commits tell: which files were changed when something like it was said, how often of late, and with what else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log1p

from afresh.domain.history import History
from afresh.domain.words import split, stem, telling
from afresh.insight.ranking.asked import Asked
from afresh.insight.ranking.signals import Scores, levelled, matched

MOST_PATHS = 30
"""Files of a commit: one that changed more tells nothing of any."""
LIKE = 50
SHARPNESS = 4
LATELY = 100
"""Commits that are likest, how much more the likest counts, and after how many commits a change is half forgotten, or nearly."""
MESSAGE_LENGTH = 0.5
MOST_TOGETHER = 10


@dataclass(frozen=True, slots=True)
class Told:
    """Commits that changed something, numbered from the newest, ready to be asked."""

    having: Mapping[str, Mapping[str, int]]
    """Of each word the commits whose message has it; commits by number, as text."""
    lengths: Mapping[str, float]
    paths: Sequence[tuple[str, ...]]
    messages: Sequence[str]
    touching: Mapping[str, Sequence[int]]


@lru_cache(maxsize=4)
def told(history: History) -> Told:
    having: dict[str, dict[str, int]] = {}
    lengths: dict[str, float] = {}
    touching: dict[str, list[int]] = {}
    commits = [past for past in history.commits if 1 <= len(past.paths) <= MOST_PATHS]
    for number, past in enumerate(commits):
        said = [stem(word) for word in telling(split(past.message))]
        lengths[str(number)] = len(said) or 1
        for word in said:
            counts = having.setdefault(word, {})
            counts[str(number)] = counts.get(str(number), 0) + 1
        for path in past.paths:
            touching.setdefault(path, []).append(number)
    mean = sum(lengths.values()) / (len(lengths) or 1) or 1
    shares = {number: length / mean for number, length in lengths.items()}
    titles = [past.message.partition("\n")[0] for past in commits]
    return Told(having, shares, [past.paths for past in commits], titles, touching)


def alike(history: Told, question: Asked) -> list[tuple[int, float]]:
    """The commits whose messages are likest to the text, with a number that is 1 for the likest."""
    counts = [(history.having.get(stem(word), {}), 1.0) for word in question.words]
    scores = matched(counts, history.lengths, len(history.paths), MESSAGE_LENGTH)
    likest = sorted((-score, int(number)) for number, score in scores.items())[:LIKE]
    return [(number, score / likest[0][0]) for score, number in likest]


def before(history: Told, likest: Sequence[tuple[int, float]], files: frozenset[str]) -> Scores:
    """Files that were changed when something like it was said."""
    found: Scores = {}
    for number, likeness in likest:
        changed = history.paths[number]
        for path in changed:
            if path in files:
                found[path] = found.get(path, 0.0) + likeness**SHARPNESS / len(changed) ** 0.5
    return levelled(found)


def lately(history: Told, files: frozenset[str]) -> Scores:
    """Files that are changed often, and of late."""
    found: Scores = {}
    for number, changed in enumerate(history.paths):
        worth = exp(-number / LATELY) / len(changed) ** 0.5
        for path in changed:
            if path in files:
                found[path] = found.get(path, 0.0) + worth
    return levelled({path: log1p(score) for path, score in found.items()})


def together(history: Told, path: str, files: frozenset[str]) -> Scores:
    """How likely others are changed when this one is."""
    found: Scores = {}
    commits = history.touching.get(path, ())
    for number in commits:
        changed = history.paths[number]
        if 1 < len(changed) <= MOST_TOGETHER:
            for other in changed:
                if other != path and other in files:
                    found[other] = found.get(other, 0.0) + 1 / (len(changed) - 1)
    return {other: score / (len(commits) + 2) for other, score in found.items()}
