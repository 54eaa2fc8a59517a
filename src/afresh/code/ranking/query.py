"""What a text asks about: its words, the identifiers that it means as such, and the files that it may name."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import log

from afresh.core.commit import NO_COMMIT_HISTORY, CommitHistory
from afresh.core.search_words import drop_stop_words, split_words, stem_word
from afresh.core.symbol import Symbol


@dataclass(frozen=True, slots=True)
class RankingQuery:
    """A task's text, the files that it has touched, and what the repository's commits tell; each may be missing."""

    text: str = ""
    touched: tuple[str, ...] = ()
    history: CommitHistory = NO_COMMIT_HISTORY


@dataclass(frozen=True, slots=True)
class RankedFile:
    """A file that matters."""

    path: str
    score: float
    """1 for the best of all files; it says nothing across questions."""
    reasons: tuple[str, ...]
    """Why it is here, in few words each, the weightiest first."""
    symbols: tuple[Symbol, ...] = ()
    """What matters in it, the weightiest first."""


MAX_QUERY_CHARACTERS = 20_000
MAX_QUERY_WORDS = 200
MAX_QUERY_NAMES = 100
"""What is weighed of a text; the rest of a longer one is passed over."""
DOTTED_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*")
QUOTED_TEXT = re.compile(r"``?([^`\n]+)``?|'([\w.()/:-]+)'|\"([\w.()/:-]+)\"")
COMPOUND_NAME = re.compile(r"[^_]_+[^_]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
FILE_NAME = re.compile(r"[\w./\\-]*\w")
MIN_NAME_CHARACTERS = 3
CODE_CERTAINTY = 1.0
DOTTED_CERTAINTY = 0.7
CAPITAL_CERTAINTY = 0.4
"""How surely a word is meant as a name of code: quoted, called or compound; part of a dotted name; with a capital inside a
sentence."""


@dataclass(frozen=True, slots=True)
class QueryTerms:
    words: Mapping[str, float]
    """Each telling word in one of its forms, with its weight: the first line counts twice, repetition a little."""
    names: Mapping[str, float]
    """Identifiers and dotted names, with how surely each is meant as one."""
    files: frozenset[str]
    """In lower case: whatever may be the name or path of a file."""


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
