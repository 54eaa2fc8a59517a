"""Which definitions a text calls by name. What is written like code is meant as a name; a plain word hardly ever is."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from afresh.domain.code import Kind, Place
from afresh.domain.words import STOP_WORDS
from afresh.insight.code import Code
from afresh.insight.looks.relevance import DEFINITIONS

CHAIN = re.compile(r"(?<![\w./-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
OPTION = re.compile(r"(?<![\w-])--([a-z]\w+(?:-\w+)*)")
PATH = re.compile(r"[\w./-]*\w\.\w+")
AT = re.compile(r"([\w./-]+\.\w+):(\d+)")
SHORTEST = 4
SAME = 3
RARE = 6
SHARE = 40
"""Letters of a plain word that may be a name; definitions that one name may stand for; files that may say a plain word which
names something, or one in so many of all."""


class Form(IntEnum):
    """How surely a word is meant as a name: as every word of a sentence is written, with a capital, quoted, or like code."""

    PLAIN = 0
    CAPITAL = 1
    QUOTED = 2
    CODE = 3


@dataclass(frozen=True, slots=True)
class Hand:
    """The files at hand: those that the work is about, and those that they import. A name means what it means there."""

    files: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    strict: bool = False
    """A capital alone means nothing beyond them: thoughts are full of the names of other people's code."""


def hand(code: Code, files: Sequence[str], strict: bool = False) -> Hand:
    known = frozenset(path for path in files if path in code.files)
    return Hand(known, frozenset(target for path in known for target in code.imports(path)) - known, strict)


def called(code: Code, text: str, at: Hand) -> Iterator[Place]:
    """By a plain word only if nothing in the text is written like a name."""
    forms: dict[str, Form] = {}
    for match in CHAIN.finditer(text):
        forms[match[0]] = max(forms.get(match[0], Form.PLAIN), form(text, match))
    sure = [place for name, how in forms.items() if how is not Form.PLAIN for place in meant(code, name, how, at)]
    yield from sure or [place for name, how in forms.items() if how is Form.PLAIN for place in meant(code, name, how, at)]


def form(text: str, match: re.Match[str]) -> Form:
    name, before, after = match[0], text[: match.start()], text[match.end() : match.end() + 1]
    if after == "(" or re.search(r"[_.\d]|[a-z][A-Z]", name):
        return Form.CODE
    if before[-1:] in ("`", "'", '"') and after == before[-1:]:
        return Form.QUOTED
    capital = name[0].isupper() and re.search(r"[\w,;)`'\"]\s+$", before)
    return Form.CAPITAL if capital else Form.PLAIN


def meant(code: Code, name: str, how: Form, at: Hand) -> list[Place]:
    """What a name stands for in the files at hand, else anywhere, unless it could be many things."""
    if how is Form.PLAIN and (len(name) < SHORTEST or name.lower() in STOP_WORDS):
        return []
    holder, _, short = name.rpartition(".")
    found = code.defining(name) or [place for place in code.defining(short) if holder and holder.split(".")[-1] in module(place)]
    for near in (at.files, at.imported) if how is not Form.PLAIN else ():
        here = [place for place in found if place.path in near and (how is Form.CODE or near is at.files or outer(place))]
        if here := [place for place in here if outer(place)] or here:
            return here if len(here) <= SAME else []
    kept = [place for place in found if how is Form.CODE or outer(place)]
    kept = [place for place in kept if not code.is_test(place.path)] or kept
    return kept if len(kept) <= SAME and telling(code, name, kept, how, at) else []


def outer(place: Place) -> bool:
    return place.symbol.kind in DEFINITIONS and "." not in place.symbol.name


def telling(code: Code, name: str, found: Sequence[Place], how: Form, at: Hand) -> bool:
    """Whether a name means what is defined somewhere else. A word that many files say is a word there."""
    if how is Form.CODE:
        return True
    if how is Form.CAPITAL and at.strict:
        return False
    return len(code.words(name)) <= max(RARE, len(code.files) // SHARE) and (how is not Form.PLAIN or len(found) == 1)


def taken(code: Code, text: str) -> Iterator[Place]:
    """Classes of the product that options are called after, where there is one of the name: `--status` takes a Status."""
    for option in dict.fromkeys(OPTION.findall(text)):
        name = "".join(part.capitalize() for part in option.split("-"))
        found = [place for place in code.defining(name) if place.symbol.kind is Kind.CLASS and not code.is_test(place.path)]
        yield from found if len(found) == 1 else ()


def module(place: Place) -> list[str]:
    return re.split(r"[/.]", place.path)


def named_files(code: Code, text: str) -> set[str]:
    """Files of code that a text names, by path or by a name that only one has."""
    found: set[str] = set()
    for word in PATH.findall(text):
        ends = [path for path in code.files if path == word or path.endswith("/" + word)]
        found.update(ends if len(ends) == 1 or word in ends else ())
    return found
