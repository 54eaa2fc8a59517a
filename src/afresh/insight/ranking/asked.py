"""What a text asks about: its words, the identifiers that it means as such, and the files that it may name."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import log

from afresh.domain.words import split, stem, telling

MOST_CHARACTERS = 20_000
MOST_WORDS = 200
MOST_NAMES = 100
"""What is weighed of a text; the rest of a longer one is passed over."""
NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*")
QUOTED = re.compile(r"``?([^`\n]+)``?|'([\w.()/:-]+)'|\"([\w.()/:-]+)\"")
COMPOUND = re.compile(r"[^_]_+[^_]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
FILE = re.compile(r"[\w./\\-]*\w")
SHORTEST = 3
CODE = 1.0
DOTTED = 0.7
PROPER = 0.4
"""How surely a word is meant as a name of code: quoted, called or compound; part of a dotted name; with a capital inside a
sentence."""


@dataclass(frozen=True, slots=True)
class Asked:
    words: Mapping[str, float]
    """Each telling word in one of its forms, with its weight: the first line counts twice, repetition a little."""
    names: Mapping[str, float]
    """Identifiers and dotted names, with how surely each is meant as one."""
    files: frozenset[str]
    """In lower case: whatever may be the name or path of a file."""


@lru_cache(maxsize=64)
def asked(text: str) -> Asked:
    text = text[:MOST_CHARACTERS]
    return Asked(_words(text), _names(text), frozenset(each.lower().replace("\\", "/") for each in FILE.findall(text)))


def _words(text: str) -> dict[str, float]:
    first = {stem(word) for word in telling(split(text.strip().partition("\n")[0]))}
    forms: dict[str, str] = {}
    counts: dict[str, int] = {}
    for word in telling(split(text)):
        root = stem(word)
        if root in forms or len(forms) < MOST_WORDS:
            forms.setdefault(root, word)
            counts[root] = counts.get(root, 0) + 1
    return {forms[root]: (2.0 if root in first else 1.0) * (1 + log(count)) for root, count in counts.items()}


def _names(text: str) -> dict[str, float]:
    quoted = {name for match in QUOTED.finditer(text) for name in NAME.findall("".join(match.groups("")))}
    found: dict[str, float] = {}
    for name, sure in _said(text, quoted):
        if len(name) >= SHORTEST and (name in found or len(found) < MOST_NAMES):
            found[name] = max(sure, found.get(name, 0.0))
    return found


def _said(text: str, quoted: set[str]) -> Iterator[tuple[str, float]]:
    for match in NAME.finditer(text):
        whole = match[0].replace("::", ".")
        meant = match[0] in quoted or text[match.end() : match.end() + 1] == "("
        parts = whole.split(".")
        for name in dict.fromkeys([whole, *parts]):
            if meant or COMPOUND.search(name):
                yield name, CODE
            elif len(parts) > 1:
                yield name, DOTTED
            elif name[0].isupper() and match.start() > 0:
                yield name, PROPER
