"""What speaks for a file, each as a number for the files that it speaks for: 1 for the one that it speaks for most."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import log
from pathlib import PurePosixPath

from afresh.domain.words import split, stem, telling
from afresh.insight.code import Code
from afresh.insight.ranking.asked import Asked

Scores = dict[str, float]
SATURATION = 1.2
"""BM25's k1: how soon one more of the same word says nothing new."""
LENGTH = 0.4
PATH_LENGTH = 0.75
"""BM25's b: how much a long text must say more often. A large file of code is about more, but not by its length."""
MOST_NAMED = 1.5


def levelled(scores: Scores) -> Scores:
    top = max(scores.values(), default=0.0)
    return {path: score / top for path, score in scores.items()} if top > 0 else {}


def rarity(holders: int, all: int) -> float:
    return log(1 + (all - holders + 0.5) / (holders + 0.5))


def matched(counts: Iterable[tuple[Mapping[str, int], float]], lengths: Mapping[str, float], all: int, hold: float) -> Scores:
    """BM25 of texts whose length is given as a share of the mean, for words given by how often each text has them."""
    found: Scores = {}
    room = {key: SATURATION * (1 - hold + hold * length) for key, length in lengths.items()}
    for having, weight in counts:
        worth = weight * rarity(len(having), all) * (SATURATION + 1)
        for key, count in having.items():
            found[key] = found.get(key, 0.0) + worth * count / (count + room[key])
    return found


Saying = Mapping[str, Mapping[str, int]]
"""Of each word of a question, how often each file says it."""


def words(code: Code, question: Asked, saying: Saying) -> Scores:
    """Files that say the words of the text."""
    counts = [(saying[word], weight) for word, weight in question.words.items()]
    lengths = {path: code.length(path) for path in code.files}
    mean = sum(lengths.values()) / (len(lengths) or 1) or 1
    shares = {path: length / mean for path, length in lengths.items()}
    return levelled(matched(counts, shares, len(code.files), LENGTH))


@lru_cache(maxsize=4)
def path_words(files: tuple[str, ...]) -> tuple[dict[str, dict[str, int]], dict[str, float]]:
    """Words of paths, those of the file's own name twice, as the paths that have them; and lengths, as shares of the mean."""
    having: dict[str, dict[str, int]] = {}
    lengths: dict[str, float] = {}
    for path in files:
        said = [stem(word) for word in telling(split(path))]
        lengths[path] = len(said)
        for word in [*said, *{stem(word) for word in telling(split(subject(path)))}]:
            counts = having.setdefault(word, {})
            counts[path] = counts.get(path, 0) + 1
    mean = sum(lengths.values()) / (len(lengths) or 1) or 1
    return having, {path: length / mean for path, length in lengths.items()}


def subject(path: str) -> str:
    """What a file is called after: its stem, without what marks it as a test."""
    name = PurePosixPath(path).name.partition(".")[0].strip("_")
    for mark in ("test_", "tests_"):
        name = name.removeprefix(mark)
    for mark in ("_test", "_tests", "-test", "-spec", "_spec"):
        name = name.removesuffix(mark)
    return name.strip("_")


def paths(code: Code, question: Asked) -> Scores:
    """Files whose paths have words of the text."""
    having, lengths = path_words(tuple(code.files))
    counts = [(having.get(stem(word), {}), weight) for word, weight in question.words.items()]
    return levelled(matched(counts, lengths, len(code.files), PATH_LENGTH))


def defines(code: Code, question: Asked) -> Scores:
    """Files that define a name that the text has; the more of them, the less it says."""
    found: Scores = {}
    for name, sure in question.names.items():
        places = {place.path for place in code.defining(name)}
        for path in places:
            found[path] = found.get(path, 0.0) + sure / len(places) ** 0.7
    return {path: min(score, MOST_NAMED) for path, score in found.items()}


def uses(code: Code, question: Asked) -> Scores:
    """Files whose code has a name of the text, which tells more if few have it."""
    found: Scores = {}
    for name, sure in question.names.items():
        holders = code.mentioning(name.rpartition(".")[2])
        worth = sure * log(1 + len(code.files) / max(1, len(holders)))
        for path in holders:
            found[path] = found.get(path, 0.0) + worth
    return levelled(found)


@lru_cache(maxsize=4)
def names(files: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """In lower case, names of files, and paths from every folder on, with the files that they may mean."""
    found: dict[str, list[str]] = {}
    for path in files:
        parts = path.lower().split("/")
        for start in range(len(parts)):
            found.setdefault("/".join(parts[start:]), []).append(path)
    return {name: tuple(held) for name, held in found.items()}


def named(code: Code, question: Asked) -> Scores:
    """Files that the text names, with their ending."""
    known = names(tuple(code.files))
    found: Scores = {}
    for name in question.files:
        for path in known.get(name.removeprefix("./"), ()):
            found[path] = max(found.get(path, 0.0), len(known[name.removeprefix("./")]) ** -0.5)
    return found
