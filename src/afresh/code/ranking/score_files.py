"""Scores files by text, names, history and imports, with weights tuned on other repositories, and explains each rank."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from afresh.code.index.code_index import CodeIndex
from afresh.code.ranking import commit_history, signals
from afresh.code.ranking.query import (
    MIN_SURE_SCORE,
    FileScores,
    QueryTerms,
    RankingQuery,
    extract_query_terms,
    score_implied_files,
)
from afresh.code.ranking.signals import normalize_scores
from afresh.core.search_words import drop_stop_words, split_words, stem_word
from afresh.core.truncate import to_one_line, truncate_text

SIGNAL_WEIGHTS: Mapping[str, float] = {
    "named": 1.8, "touched": 1.5, "meant": 1.2, "words": 1.0, "central": 1.0, "before": 0.7, "defines": 0.6, "paths": 0.55,
    "uses": 0.2, "lately": 0.15,
}  # fmt: skip
SPREAD_WEIGHTS: Mapping[str, float] = {"paired": 0.15, "together": 0.1, "imports": 0.1}
MAX_SEED_FILES = 30
"""Highest ranked files whose scores spread to related files. An overview has no query, so nothing spreads."""


@dataclass(frozen=True, slots=True)
class ScoredFiles:
    """All files with a score, and the signals that it comes from."""

    asked: QueryTerms
    saying: signals.WordCounts
    signals: Mapping[str, FileScores]
    spread: Mapping[str, FileScores]
    sources: Mapping[str, Mapping[str, str]]
    """For each kind of spread and each file, the seed that contributed most."""
    likest: Sequence[tuple[int, float]] = ()
    total: FileScores = field(default_factory=dict[str, float])

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
    return capped, {name: {path: seed for path, (_, seed) in held.items()} for name, held in sources.items()}


WORDS_REASON = "says: "
MAX_REASONS = 3
MIN_REASON_SHARE = 0.08
"""A reason is left out below this share of the weightiest one."""
MAX_REASON_WORDS = 3
MAX_REASON_NAMES = 2
MAX_TITLE_CHARACTERS = 40


def explain_rank(code: CodeIndex, question: RankingQuery, weighed: ScoredFiles, path: str) -> tuple[str, ...]:
    """Return the reasons, the weightiest first, without duplicates in other words."""
    weights = {**SIGNAL_WEIGHTS, **SPREAD_WEIGHTS}
    parts = {**weighed.signals, **weighed.spread}
    worth = {name: weights[name] * scores[path] for name, scores in parts.items() if path in scores}
    top = max(worth.values(), default=0.0)
    told: list[str] = []
    for name in sorted(worth, key=lambda name: (-worth[name], name)):
        if (
            worth[name] > MIN_REASON_SHARE * top
            and (said := _REASON_WRITERS[name](code, question, weighed, path))
            and said not in told
        ):
            told.append(to_one_line(said))
        if len(told) == MAX_REASONS:
            break
    return tuple(told)


def _explain_named(code: CodeIndex, question: RankingQuery, weighed: ScoredFiles, path: str) -> str:
    return "named in the task"


def _explain_implied(code: CodeIndex, question: RankingQuery, weighed: ScoredFiles, path: str) -> str:
    return "what the task speaks of" if weighed.signals["meant"][path] >= MIN_SURE_SCORE else "called as the task says"


def _explain_touched(code: CodeIndex, question: RankingQuery, weighed: ScoredFiles, path: str) -> str:
    return "in work"


def _explain_defines(code: CodeIndex, question: RankingQuery, weighed: ScoredFiles, path: str) -> str:
    symbols = {symbol.short for symbol in code.reading(path).symbols}
    names = sorted(weighed.asked.names, key=lambda name: (-weighed.asked.names[name], name))
    held = list(dict.fromkeys(short for name in names if (short := name.rpartition(".")[2]) in symbols))
    return f"defines {_quote_names(held)}" if held else ""


def _explain_uses(code: CodeIndex, question: RankingQuery, weighed: ScoredFiles, path: str) -> str:
    mentions = code.reading(path).mentions
    defined = {symbol.short for symbol in code.reading(path).symbols}
    names = {name.rpartition(".")[2] for name in weighed.asked.names}
    held = sorted((name for name in names if name in mentions and name not in defined), key=_rarity_key(code))
    return f"uses {_quote_names(held)}" if held else ""


def _rarity_key(code: CodeIndex) -> Callable[[str], tuple[int, str]]:
    return lambda name: (len(code.mentioning(name)), name)


def _explain_words(code: CodeIndex, question: RankingQuery, weighed: ScoredFiles, path: str) -> str:
    """Return the matching words, without those that are shown as part of the path or as names."""
    worth: list[tuple[float, str]] = []
    for word, weight in weighed.asked.words.items():
        having = weighed.saying[word]
        if path in having:
            worth.append((-weight * signals.measure_rarity(len(having), len(code.files)), word))
    told = {stem_word(word) for text in (path, *weighed.asked.names) for word in drop_stop_words(split_words(text))}
    held = [word for _, word in sorted(worth) if stem_word(word) not in told]
    return f"{WORDS_REASON}{', '.join(_distinct_words(held))}" if held else ""


def _distinct_words(words: list[str]) -> list[str]:
    """Return the words without those that are parts of another one."""
    kept: list[str] = []
    for word in words:
        if not any(word in other or other in word for other in kept):
            kept.append(word)
    return kept[:MAX_REASON_WORDS]


def _explain_paths(code: CodeIndex, question: RankingQuery, weighed: ScoredFiles, path: str) -> str:
    said = {stem_word(word) for word in drop_stop_words(split_words(path))}
    held = _distinct_words([word for word in weighed.asked.words if stem_word(word) in said])
    return f"path has: {', '.join(held)}" if held else ""


def _explain_changed_before(code: CodeIndex, question: RankingQuery, weighed: ScoredFiles, path: str) -> str:
    history = commit_history.index_commits(question.history)
    for number, _ in weighed.likest:
        if path in history.paths[number]:
            title = " ".join(history.messages[number].split())
            return f"changed for “{truncate_text(title, MAX_TITLE_CHARACTERS)}”"
    return ""


def _explain_changed_lately(code: CodeIndex, question: RankingQuery, weighed: ScoredFiles, path: str) -> str:
    count = len(commit_history.index_commits(question.history).touching.get(path, ()))
    return f"changed in {count} commits" if count > 1 else ""


def _explain_changed_together(code: CodeIndex, question: RankingQuery, weighed: ScoredFiles, path: str) -> str:
    return f"changed with {_short_path(weighed.sources['together'][path])} before"


def _explain_paired(code: CodeIndex, question: RankingQuery, weighed: ScoredFiles, path: str) -> str:
    other = _short_path(weighed.sources["paired"][path])
    return f"tests {other}" if code.is_test(path) else f"tested by {other}"


def _explain_imports(code: CodeIndex, question: RankingQuery, weighed: ScoredFiles, path: str) -> str:
    seeds = set(weighed.best()[:10]) - {path}
    users = sorted(set(code.importers(path)) & seeds)
    used = sorted(set(code.imports(path)) & seeds)
    if len(users) > 1:
        return f"imported by {len(users)} of these files"
    if users or used:
        return f"imported by {_short_path(users[0])}" if users else f"imports {_short_path(used[0])}"
    return ""


def _explain_centrality(code: CodeIndex, question: RankingQuery, weighed: ScoredFiles, path: str) -> str:
    count = len(code.importers(path))
    return f"imported by {count} files" if count > 1 else ""


def _quote_names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:MAX_REASON_NAMES])


def _short_path(path: str) -> str:
    """Return a file's name, with its folder when the name alone says nothing."""
    pure = PurePosixPath(path)
    return f"{pure.parent.name}/{pure.name}" if pure.stem in ("__init__", "index", "mod", "tests") else pure.name


ReasonWriter = Callable[[CodeIndex, RankingQuery, ScoredFiles, str], str]
_REASON_WRITERS: dict[str, ReasonWriter] = {
    "named": _explain_named,
    "meant": _explain_implied,
    "touched": _explain_touched,
    "defines": _explain_defines,
    "uses": _explain_uses,
    "words": _explain_words,
    "paths": _explain_paths,
    "before": _explain_changed_before,
    "lately": _explain_changed_lately,
    "together": _explain_changed_together,
    "paired": _explain_paired,
    "imports": _explain_imports,
    "central": _explain_centrality,
}
