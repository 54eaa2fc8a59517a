"""What a text asks about: its words, the identifiers in it, and the files that it names or implies."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import log
from pathlib import PurePosixPath

from afresh.code.index.code_index import CodeIndex
from afresh.code.names_in_text import COMPOUND_NAME, NameForm, find_names
from afresh.core.commit import NO_COMMIT_HISTORY, CommitHistory
from afresh.core.recognise_test_files import is_test_code
from afresh.core.search_words import STOP_WORDS, drop_stop_words, split_words, stem_word
from afresh.core.symbol import Symbol

FileScores = dict[str, float]
"""Score by path."""


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
MIN_NAME_CHARACTERS = 3
DOTTED_CERTAINTY = 0.7
CERTAINTY_BY_FORM = {NameForm.CAPITAL: 0.4, NameForm.QUOTED: 1.0, NameForm.CODE: 1.0}
"""How surely a word is an identifier; and a part of a dotted name, or such a name in plain text."""


@dataclass(frozen=True, slots=True)
class QueryTerms:
    words: Mapping[str, float]
    """Each significant word in one of its forms, with its weight: the first line counts twice, repetition a little."""
    names: Mapping[str, float]
    """Identifiers and dotted names, with how surely each is one."""


@lru_cache(maxsize=64)
def extract_query_terms(text: str) -> QueryTerms:
    return QueryTerms(_extract_words(text[:MAX_QUERY_CHARACTERS]), _extract_names(text[:MAX_QUERY_CHARACTERS]))


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
    names: dict[str, float] = {}
    for word in (word for word in find_names(text) if word.form in CERTAINTY_BY_FORM):
        parts = word.name.split(".")
        for name in (name for name in dict.fromkeys([word.name, *parts]) if len(name) >= MIN_NAME_CHARACTERS):
            sure = len(parts) == 1 or word.marked or COMPOUND_NAME.search(name)
            if name in names or len(names) < MAX_QUERY_NAMES:
                names[name] = max(CERTAINTY_BY_FORM[word.form] if sure else DOTTED_CERTAINTY, names.get(name, 0.0))
    return names


def subject_from_path(path: str) -> str:
    """Return the subject of a file's name: its stem, without test markers."""
    name = PurePosixPath(path).name.partition(".")[0].strip("_")
    for mark in ("test_", "tests_"):
        name = name.removeprefix(mark)
    for mark in ("_test", "_tests", "-test", "-spec", "_spec"):
        name = name.removesuffix(mark)
    return name.strip("_")


PLAIN_WORD = re.compile(r"(?<![\w/.-])[A-Za-z][\w-]*(?![\w/]|\.\w)")
MAX_IMPLIED_FILES = 3


def find_implied_files(code: CodeIndex, text: str) -> list[str]:
    """Return files such as tools/plan.py and tools/read.py for `the plan tool` and `the tool read`; none where many fit. Tests
    are found by what they test.
    """
    words = [match[0].lower() for match in PLAIN_WORD.finditer(text) if match[0].lower() not in STOP_WORDS]
    named, pairs = index_subjects(tuple(code.files)), list(pairwise(words))
    keys = [(_normalize_name(name), stem_word(folder)) for pair in pairs for name, folder in (pair, pair[::-1])]
    found = [named.get(key, ()) for key in keys]
    sure = list(dict.fromkeys(paths[0] for paths in found if len(paths) == 1))
    return sure if len(sure) <= MAX_IMPLIED_FILES else []


@lru_cache(maxsize=4)
def index_subjects(files: tuple[str, ...]) -> Mapping[tuple[str, str], Sequence[str]]:
    """Return the product's files by their subject and the stem of their folder's name."""
    subjects: dict[tuple[str, str], list[str]] = {}
    for path in (path for path in files if not is_test_code(path)):
        folder = path.rpartition("/")[0].rpartition("/")[2]
        subjects.setdefault((_normalize_name(subject_from_path(path)), stem_word(folder.lower())), []).append(path)
    return subjects


def _normalize_name(name: str) -> str:
    return name.lower().replace("-", "_")
