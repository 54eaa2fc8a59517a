"""Scores files by text, names, history and imports, with weights tuned on other repositories, and explains each rank."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from afresh.code.index.code_index import CodeIndex
from afresh.code.ranking import commit_history, signals
from afresh.code.ranking.query import MAX_QUERY_CHARACTERS, FileScores, QueryTerms, RankingQuery, extract_query_terms
from afresh.code.ranking.signals import normalize_scores
from afresh.core.search_words import drop_stop_words, split_words, stem_word
from afresh.core.truncate import to_one_line

SIGNAL_WEIGHTS: Mapping[str, float] = {
    "named": 1.8, "touched": 1.5, "words": 1.0, "central": 1.0, "before": 0.7, "defines": 0.6, "paths": 0.55,
}  # fmt: skip
SPREAD_WEIGHTS: Mapping[str, float] = {"paired": 0.15, "together": 0.1, "imports": 0.1}
MAX_SEED_FILES = 30
"""Highest ranked files whose scores spread to related files. An overview has no query, so nothing spreads."""
WORDS_REASON = "says: {}"
REASONS: Mapping[str, str] = {
    "named": "named in the task", "touched": "in work", "words": WORDS_REASON, "central": "imported by {} files",
    "before": "changed for “{}”", "defines": "defines {}", "paths": "path has: {}", "together": "changed with {} before",
    "paired": "tested by {}", "tests": "tests {}", "imports": "imported by {}", "importer": "imports {}",
}  # fmt: skip
MAX_REASONS = 3
MIN_REASON_SHARE = 0.08
"""A reason is left out below this share of the weightiest one."""
MAX_REASON_WORDS = 3
MAX_REASON_NAMES = 2
MAX_TITLE_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class ScoredFiles:
    """All files with a score, and the signals that it comes from."""

    asked: QueryTerms
    saying: signals.WordCounts
    parts: Mapping[str, FileScores]
    """Scores by signal and by kind of spread."""
    sources: Mapping[str, Mapping[str, str]]
    """For each kind of spread and each file, the seed that contributed most."""
    likest: Sequence[tuple[int, float]]
    total: FileScores

    def best(self) -> list[str]:
        return [path for path, _ in sort_by_score(self.total)]


def sort_by_score(scores: FileScores) -> list[tuple[str, float]]:
    """Return pairs by descending score, then by path."""
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def score_files(code: CodeIndex, question: RankingQuery) -> ScoredFiles:
    about, history = extract_query_terms(question.text), commit_history.index_commits(question.history)
    files = frozenset(code.files)
    likest, saying = commit_history.find_similar_commits(history, about), {word: code.words(word) for word in about.words}
    found = {
        "named": signals.score_named_files(code, question.text[:MAX_QUERY_CHARACTERS]),
        "touched": {path: 1.0 for path in question.touched if path in files},
        "defines": signals.score_definitions(code, about),
        "words": signals.score_words(code, about, saying),
        "paths": signals.score_paths(code, about),
        "before": commit_history.score_changed_before(history, likest, files),
    }
    seeds = MAX_SEED_FILES
    if not about.words and not question.touched:
        found["central"], seeds = normalize_scores({path: 1.0 + count_users(code, path) for path in files}), 0
    total = normalize_scores(add_weighted(found, SIGNAL_WEIGHTS))
    spread, sources = spread_scores(code, history, dict(sort_by_score(total)[:seeds]), files)
    whole = normalize_scores(add_weighted({"": total, **spread}, {"": 1.0, **SPREAD_WEIGHTS}))
    return ScoredFiles(about, saying, {**found, **spread}, sources, likest, whole)


def add_weighted(parts: Mapping[str, FileScores], weights: Mapping[str, float]) -> FileScores:
    total: FileScores = {}
    for name, scores in parts.items():
        for path, score in scores.items():
            total[path] = total.get(path, 0.0) + weights[name] * score
    return total


def spread_scores(
    code: CodeIndex, history: commit_history.CommitIndex, seeds: FileScores, files: frozenset[str]
) -> tuple[dict[str, FileScores], dict[str, dict[str, str]]]:
    """Return the scores that spread from the best files: to tests and code of the same name, to files changed together, along
    imports.
    """
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
    return capped, {name: {path: seed for path, (_, seed) in source.items()} for name, source in sources.items()}


def explain_rank(code: CodeIndex, question: RankingQuery, weighed: ScoredFiles, path: str) -> tuple[str, ...]:
    """Return the reasons, the weightiest first. One whose evidence others have told already is left out."""
    weights = {**SIGNAL_WEIGHTS, **SPREAD_WEIGHTS}
    worth = {name: weights[name] * scores[path] for name, scores in weighed.parts.items() if path in scores}
    least = MIN_REASON_SHARE * max(worth.values(), default=0.0)
    lines = list[str]()
    for name in sorted((name for name in worth if worth[name] > least), key=lambda name: (-worth[name], name)):
        kind, evidence = name, find_evidence(code, question, weighed, path, name)
        if name == "paired" and code.is_test(path):
            kind = "tests"
        elif name == "imports" and weighed.sources[name][path] in code.imports(path):
            kind = "importer"
        lines += [to_one_line(REASONS[kind].format(evidence))] if evidence else []
    return tuple(lines[:MAX_REASONS])


def find_evidence(code: CodeIndex, question: RankingQuery, weighed: ScoredFiles, path: str, name: str) -> str:
    """Return what to fill into the reason; empty if it would say nothing new."""
    asked = weighed.asked
    if name in weighed.sources:
        return shorten_path(weighed.sources[name][path])
    if name == "central":
        return f"{users:,}" if (users := count_users(code, path)) > 1 else ""
    if name == "before":
        history = commit_history.index_commits(question.history)
        title = next((history.messages[number] for number, _ in weighed.likest if path in history.paths[number]), "")
        return to_one_line(title, MAX_TITLE_CHARACTERS)
    if name == "defines":
        symbols = {symbol.short for symbol in code.reading(path).symbols}
        names = [known.rpartition(".")[2] for known in sorted(asked.names, key=lambda known: (-asked.names[known], known))]
        return ", ".join([f"`{short}`" for short in dict.fromkeys(names) if short in symbols][:MAX_REASON_NAMES])
    inside = {stem_word(word) for word in drop_stop_words(split_words(path))}
    if name == "paths":
        return join_distinct_words([word for word in asked.words if stem_word(word) in inside])
    if name == "words":
        told = inside | {stem_word(word) for known in asked.names for word in drop_stop_words(split_words(known))}
        rarity = {word: signals.measure_rarity(len(having), len(code.files)) for word, having in weighed.saying.items()}
        words = [word for word, having in weighed.saying.items() if path in having and stem_word(word) not in told]
        return join_distinct_words(sorted(words, key=lambda word: (-asked.words[word] * rarity[word], word)))
    return name


def count_users(code: CodeIndex, path: str) -> int:
    """Return how many files of the product import it."""
    return sum(not code.is_test(user) for user in code.importers(path))


def join_distinct_words(words: Sequence[str]) -> str:
    """Return the words without those that are parts of another one."""
    kept = list[str]()
    for word in words:
        if not any(word in other or other in word for other in kept):
            kept.append(word)
    return ", ".join(kept[:MAX_REASON_WORDS])


def shorten_path(path: str) -> str:
    """Return a file's name, with its folder when the name alone says nothing."""
    pure = PurePosixPath(path)
    return f"{pure.parent.name}/{pure.name}" if pure.stem in ("__init__", "index", "mod", "tests") else pure.name
