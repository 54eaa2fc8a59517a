"""Scores from earlier commits: files changed in similar commits, and changed together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from afresh.code.ranking.query import FileScores, QueryTerms
from afresh.code.ranking.signals import normalize_scores, score_bm25
from afresh.core.commit import CommitHistory, FileChurn
from afresh.core.search_words import drop_stop_words, split_words, stem_word

MAX_PATHS_PER_COMMIT = 30
"""A commit that changed more files than this is ignored, since it says little about any of them."""
MAX_SIMILAR_COMMITS = 50
SIMILARITY_EXPONENT = 4
"""How many similar commits are used, and how strongly the most similar ones are preferred."""
BM25_MESSAGE_LENGTH = 0.5
MAX_PATHS_FOR_COCHANGE = 10


@dataclass(frozen=True, slots=True)
class CommitIndex:
    """Commits that changed files, numbered from the newest and indexed by the words of their messages."""

    having: Mapping[str, Mapping[str, int]]
    """For each word, the commits whose message contains it, by number as text."""
    lengths: Mapping[str, float]
    paths: Sequence[tuple[str, ...]]
    messages: Sequence[str]
    touching: Mapping[str, Sequence[int]]


@lru_cache(maxsize=4)
def index_commits(history: CommitHistory) -> CommitIndex:
    having: dict[str, dict[str, int]] = {}
    lengths: dict[str, float] = {}
    touching: dict[str, list[int]] = {}
    commits = [past for past in history.commits if 1 <= len(past.paths) <= MAX_PATHS_PER_COMMIT]
    for number, past in enumerate(commits):
        lines = [stem_word(word) for word in drop_stop_words(split_words(past.message))]
        lengths[str(number)] = len(lines) or 1
        for word in lines:
            counts = having.setdefault(word, {})
            counts[str(number)] = counts.get(str(number), 0) + 1
        for path in past.paths:
            touching.setdefault(path, []).append(number)
    mean = sum(lengths.values()) / (len(lengths) or 1) or 1
    shares = {number: length / mean for number, length in lengths.items()}
    titles = [past.message.partition("\n")[0] for past in commits]
    return CommitIndex(having, shares, [past.paths for past in commits], titles, touching)


def find_similar_commits(history: CommitIndex, question: QueryTerms) -> list[tuple[int, float]]:
    """Return the commits whose messages are most similar to the text, with a similarity that is 1 for the best."""
    counts = [(history.having.get(stem_word(word), {}), 1.0) for word in question.words]
    scores = score_bm25(counts, history.lengths, len(history.paths), BM25_MESSAGE_LENGTH)
    likest = sorted((-score, int(number)) for number, score in scores.items())[:MAX_SIMILAR_COMMITS]
    return [(number, score / likest[0][0]) for score, number in likest]


def score_changed_before(history: CommitIndex, likest: Sequence[tuple[int, float]], files: frozenset[str]) -> FileScores:
    """Return scores of files that similar commits changed."""
    found: FileScores = {}
    for number, likeness in likest:
        changed = history.paths[number]
        for path in changed:
            if path in files:
                found[path] = found.get(path, 0.0) + likeness**SIMILARITY_EXPONENT / len(changed) ** 0.5
    return normalize_scores(found)


def score_changed_together(history: CommitIndex, path: str, files: frozenset[str]) -> FileScores:
    """Return how likely other files are changed when this one is."""
    found: FileScores = {}
    commits = history.touching.get(path, ())
    for number in commits:
        changed = history.paths[number]
        if 1 < len(changed) <= MAX_PATHS_FOR_COCHANGE:
            for other in changed:
                if other != path and other in files:
                    found[other] = found.get(other, 0.0) + 1 / (len(changed) - 1)
    return {other: score / (len(commits) + 2) for other, score in found.items()}


def churn_from_history(history: CommitHistory) -> dict[str, FileChurn]:
    churns: dict[str, FileChurn] = {}
    for commit in history.commits:
        for path in commit.paths:
            before = churns.get(path, FileChurn())
            churns[path] = FileChurn(before.commits + 1, max(before.last, commit.when))
    return churns
