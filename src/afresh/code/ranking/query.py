"""What a text asks about: its words, the identifiers in it, and the files that it names or implies."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import log
from pathlib import PurePosixPath

from afresh.code.caches import RecentAnswers
from afresh.code.index.code_index import CodeIndex
from afresh.core.commit import NO_COMMIT_HISTORY, CommitHistory
from afresh.core.search_words import STOP_WORDS, drop_stop_words, split_words, stem_word
from afresh.core.symbol import Symbol

FileScores = dict[str, float]
"""By path."""


@dataclass(frozen=True, slots=True)
class RankingQuery:
    """A task's text, the files that it has touched, and the repository's commits; each may be missing."""

    text: str = ""
    touched: tuple[str, ...] = ()
    history: CommitHistory = NO_COMMIT_HISTORY


@dataclass(frozen=True, slots=True)
class RankedFile:
    """A relevant file."""

    path: str
    score: float
    """1 for the best of all files; not comparable between queries."""
    reasons: tuple[str, ...]
    """Short reasons, the weightiest first."""
    symbols: tuple[Symbol, ...] = ()
    """Relevant symbols of the file, the weightiest first."""


MAX_QUERY_CHARACTERS = 20_000
MAX_QUERY_WORDS = 200
MAX_QUERY_NAMES = 100
"""Limits of a query; the rest of a longer text is ignored."""
DOTTED_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*")
QUOTED_TEXT = re.compile(r"``?([^`\n]+)``?|'([\w.()/:-]+)'|\"([\w.()/:-]+)\"")
COMPOUND_NAME = re.compile(r"[^_]_+[^_]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
FILE_NAME = re.compile(r"(?<![\w./\\-])[\w./\\-]*\w")
MIN_NAME_CHARACTERS = 3
CODE_CERTAINTY = 1.0
DOTTED_CERTAINTY = 0.7
CAPITAL_CERTAINTY = 0.4
"""How surely a word is an identifier: quoted, called or compound; part of a dotted name; capitalised inside a sentence."""


@dataclass(frozen=True, slots=True)
class QueryTerms:
    words: Mapping[str, float]
    """Each significant word in one of its forms, with its weight: the first line counts twice, repetition a little."""
    names: Mapping[str, float]
    """Identifiers and dotted names, with how surely each is one."""
    files: frozenset[str]
    """Possible names and paths of files, in lower case."""


@lru_cache(maxsize=64)
def extract_query_terms(text: str) -> QueryTerms:
    text = text[:MAX_QUERY_CHARACTERS]
    return QueryTerms(
        _extract_words(text), _extract_names(text), frozenset(each.lower().replace("\\", "/") for each in FILE_NAME.findall(text))
    )


def _extract_words(text: str) -> dict[str, float]:
    first = {stem_word(word) for word in drop_stop_words(split_words(text.strip().partition("\n")[0]))}
    forms: dict[str, str] = {}
    counts: dict[str, int] = {}
    for word in drop_stop_words(split_words(text)):
        root = stem_word(word)
        if root in forms or len(forms) < MAX_QUERY_WORDS:
            forms.setdefault(root, word)
            counts[root] = counts.get(root, 0) + 1
    return {forms[root]: (2.0 if root in first else 1.0) * (1 + log(count)) for root, count in counts.items()}


def _extract_names(text: str) -> dict[str, float]:
    quoted = {name for match in QUOTED_TEXT.finditer(text) for name in DOTTED_NAME.findall("".join(match.groups("")))}
    found: dict[str, float] = {}
    for name, sure in _names_with_certainty(text, quoted):
        if len(name) >= MIN_NAME_CHARACTERS and (name in found or len(found) < MAX_QUERY_NAMES):
            found[name] = max(sure, found.get(name, 0.0))
    return found


def _names_with_certainty(text: str, quoted: set[str]) -> Iterator[tuple[str, float]]:
    for match in DOTTED_NAME.finditer(text):
        whole = match[0].replace("::", ".")
        meant = match[0] in quoted or text[match.end() : match.end() + 1] == "("
        parts = whole.split(".")
        for name in dict.fromkeys([whole, *parts]):
            if meant or COMPOUND_NAME.search(name):
                yield name, CODE_CERTAINTY
            elif len(parts) > 1:
                yield name, DOTTED_CERTAINTY
            elif name[0].isupper() and match.start() > 0:
                yield name, CAPITAL_CERTAINTY


def subject_from_path(path: str) -> str:
    """Return the subject of a file's name: its stem, without test markers."""
    name = PurePosixPath(path).name.partition(".")[0].strip("_")
    for mark in ("test_", "tests_"):
        name = name.removeprefix(mark)
    for mark in ("_test", "_tests", "-test", "-spec", "_spec"):
        name = name.removesuffix(mark)
    return name.strip("_")


QUOTED_CODE = re.compile(r"``?([^`\n]{2,80})``?")
PLAIN_WORD = re.compile(r"(?<![\w/.-])[A-Za-z][\w-]*(?![\w/]|\.\w)")
DOC_PHRASE_SCORE = 1.0
FOLDER_AND_NAME_SCORE = 0.9
QUOTED_NAME_SCORE = 0.5
"""Scores of a file whose documentation quotes the phrase; whose name and folder are adjacent words; and whose name is quoted
as code.
"""
MIN_SURE_SCORE = 0.85
MAX_SURE_FILES = 3
MAX_CACHED_ANSWERS = 16
"""The score from which on a file counts as named, how many such files there may be, and cached answers."""
_recent_scores: RecentAnswers[tuple[str, str], FileScores] = RecentAnswers(MAX_CACHED_ANSWERS)


def score_implied_files(code: CodeIndex, text: str) -> FileScores:
    """Return scores of files that a text implies. Tests are left out: they are found by what they test. Answers are cached per
    tree.
    """
    return _recent_scores.get_or_make((code.digest, text), lambda: _score_implied_files(code, text))


def find_surely_implied_files(code: CodeIndex, text: str) -> list[str]:
    """Return the files that a text surely implies, the surest first."""
    found = score_implied_files(code, text)
    kept = sorted((path for path in found if found[path] >= MIN_SURE_SCORE), key=lambda path: (-found[path], path))
    return kept if len(kept) <= MAX_SURE_FILES else []


def _score_implied_files(code: CodeIndex, text: str) -> FileScores:
    product = [path for path in code.files if not code.is_test(path)]
    called: dict[str, list[str]] = {}
    for path in product:
        called.setdefault(_normalize_name(subject_from_path(path)), []).append(path)
    found: FileScores = {}
    for path, worth in (
        *_score_doc_phrases(code, product, text),
        *_score_folder_and_name(called, text),
        *_score_quoted_names(called, text),
    ):
        found[path] = max(found.get(path, 0.0), worth)
    return found


def _score_doc_phrases(code: CodeIndex, product: Sequence[str], text: str) -> Iterator[tuple[str, float]]:
    """Yield files whose documentation quotes two adjacent words of the text as code."""
    wanted = set(_word_pairs(text))
    for pair in wanted:
        holders = [path for path in product if pair in code.doc(path) and pair in {*_quoted_word_pairs(code.doc(path))}]
        yield from ((path, DOC_PHRASE_SCORE / len(holders) ** 0.5) for path in holders)


def _quoted_word_pairs(doc: str) -> Iterator[str]:
    for inside in QUOTED_CODE.findall(doc):
        yield from _word_pairs(inside)


def _word_pairs(text: str) -> Iterator[str]:
    words = list(PLAIN_WORD.finditer(text))
    for first, second in pairwise(words):
        if text[first.end() : second.start()].isspace() and second[0].lower() not in STOP_WORDS:
            yield f"{first[0]} {second[0]}"


def _score_folder_and_name(called: dict[str, list[str]], text: str) -> Iterator[tuple[str, float]]:
    """Yield files such as tools/plan.py and tools/read.py for `the plan tool` and `the tool read`."""
    words = [match[0].lower() for match in PLAIN_WORD.finditer(text) if match[0].lower() not in STOP_WORDS]
    beside = list(pairwise(words))
    for name, folder in (*beside, *[(second, first) for first, second in beside]):
        paths = [
            path
            for path in called.get(_normalize_name(name), ())
            if stem_word(PurePosixPath(path).parent.name.lower()) == stem_word(folder)
        ]
        yield from ((path, FOLDER_AND_NAME_SCORE / len(paths) ** 0.5) for path in paths)


def _score_quoted_names(called: dict[str, list[str]], text: str) -> Iterator[tuple[str, float]]:
    for inside in QUOTED_CODE.findall(text):
        for word in PLAIN_WORD.findall(inside):
            paths = called.get(_normalize_name(word), ())
            yield from ((path, QUOTED_NAME_SCORE / len(paths) ** 0.5) for path in paths)


def _normalize_name(name: str) -> str:
    return name.lower().replace("-", "_")
