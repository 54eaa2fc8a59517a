"""What speaks for each file, added up with weights that were found on other repositories: text, names, history and graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from afresh.code.index.code_index import CodeIndex
from afresh.code.ranking import commit_history, signals
from afresh.code.ranking.query import FileScores, QueryTerms, RankingQuery, extract_query_terms, score_implied_files
from afresh.code.ranking.signals import normalize_scores

SIGNAL_WEIGHTS: Mapping[str, float] = {
    "named": 1.8, "touched": 1.5, "meant": 1.2, "words": 1.0, "central": 1.0, "before": 0.7, "defines": 0.6, "paths": 0.55,
    "uses": 0.2, "lately": 0.15,
}  # fmt: skip
SPREAD_WEIGHTS: Mapping[str, float] = {"paired": 0.15, "together": 0.1, "imports": 0.1}
MAX_SEED_FILES = 30
"""The best files, from which what they lead to gets a share. In an overview nothing is asked for, so nothing leads anywhere."""


@dataclass(frozen=True, slots=True)
class ScoredFiles:
    """Every file that anything speaks for, and what does."""

    asked: QueryTerms
    saying: signals.WordCounts
    signals: Mapping[str, FileScores]
    spread: Mapping[str, FileScores]
    sources: Mapping[str, Mapping[str, str]]
    """Of each kind of spread and file, the seed that gave it most."""
    likest: Sequence[tuple[int, float]] = ()
    total: FileScores = field(default_factory=dict[str, float])

    def best(self) -> list[str]:
        return [path for path, _ in sort_by_score(self.total)]


def sort_by_score(scores: FileScores) -> list[tuple[str, float]]:
    """The highest first; of the same, by path."""
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def score_files(code: CodeIndex, question: RankingQuery) -> ScoredFiles:
    about, history = extract_query_terms(question.text), commit_history.index_commits(question.history)
    files = frozenset(code.files)
    likest, saying = commit_history.find_similar_commits(history, about), {word: code.words(word) for word in about.words}
    found = {
        "named": signals.score_named_files(code, about),
        "meant": score_implied_files(code, question.text),
        "touched": {path: 1.0 for path in question.touched if path in files},
        "defines": signals.score_definitions(code, about),
        "words": signals.score_words(code, about, saying),
        "paths": signals.score_paths(code, about),
        "before": commit_history.score_changed_before(history, likest, files),
        "uses": signals.score_uses(code, about),
        "lately": commit_history.score_changed_lately(history, files),
    }
    seeds = MAX_SEED_FILES
    if not about.words and not question.touched:
        found["central"], seeds = signals.score_centrality(code), 0
    total = normalize_scores(add_weighted(found, SIGNAL_WEIGHTS))
    spread, sources = spread_scores(code, history, dict(sort_by_score(total)[:seeds]), files)
    whole = normalize_scores(add_weighted({"": total, **spread}, {"": 1.0, **SPREAD_WEIGHTS}))
    return ScoredFiles(about, saying, found, spread, sources, likest, whole)


def add_weighted(parts: Mapping[str, FileScores], weights: Mapping[str, float]) -> FileScores:
    total: FileScores = {}
    for name, scores in parts.items():
        for path, score in scores.items():
            total[path] = total.get(path, 0.0) + weights[name] * score
    return total


def spread_scores(
    code: CodeIndex, history: commit_history.CommitIndex, seeds: FileScores, files: frozenset[str]
) -> tuple[dict[str, FileScores], dict[str, dict[str, str]]]:
    """What the best files lead to: by tests and code of one name, by changes in one commit, by imports."""
    spread: dict[str, FileScores] = {name: {} for name in SPREAD_WEIGHTS}
    sources: dict[str, dict[str, tuple[float, str]]] = {name: {} for name in SPREAD_WEIGHTS}
    for seed, score in seeds.items():
        leads = {
            "together": commit_history.score_changed_together(history, seed, files),
            "paired": dict.fromkeys(signals.find_paired_files(code, seed), 1.0),
            "imports": signals.score_import_neighbours(code, seed),
        }
        for name, others in leads.items():
            for other, share in others.items():
                given = share * score**2
                spread[name][other] = spread[name].get(other, 0.0) + given
                sources[name][other] = max(sources[name].get(other, (0.0, "")), (given, seed))
    spread["imports"] = normalize_scores(spread["imports"])
    capped = {name: {path: min(score, 1.0) for path, score in scores.items()} for name, scores in spread.items()}
    return capped, {name: {path: seed for path, (_, seed) in held.items()} for name, held in sources.items()}
