"""Which definitions a text calls by name. What is written like code is meant as a name; a plain word hardly ever is."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from afresh.code.context_items.word_relevance import DEFINITION_KINDS
from afresh.code.index.code_index import CodeIndex
from afresh.core.search_words import STOP_WORDS
from afresh.core.symbol import SymbolKind, SymbolPlace

DOTTED_NAME = re.compile(r"(?<![\w./-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
OPTION_NAME = re.compile(r"(?<![\w-])--([a-z]\w+(?:-\w+)*)")
PATH_PATTERN = re.compile(r"[\w./-]*\w\.\w+")
PATH_AND_LINE = re.compile(r"([\w./-]+\.\w+):(\d+)")
MIN_PLAIN_NAME_CHARACTERS = 4
MAX_DEFINITIONS_PER_NAME = 3
MAX_FILES_WITH_RARE_WORD = 6
FILES_PER_RARE_WORD = 40
"""Letters of a plain word that may be a name; definitions that one name may stand for; files that may say a plain word which
names something, or one in so many of all."""


class NameForm(IntEnum):
    """How surely a word is meant as a name: as every word of a sentence is written, with a capital, quoted, or like code."""

    PLAIN = 0
    CAPITAL = 1
    QUOTED = 2
    CODE = 3


@dataclass(frozen=True, slots=True)
class FilesAtHand:
    """The files at hand: those that the work is about, and those that they import. A name means what it means there."""

    files: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    strict: bool = False
    """A capital alone means nothing beyond them: thoughts are full of the names of other people's code."""


def find_files_at_hand(code: CodeIndex, files: Sequence[str], strict: bool = False) -> FilesAtHand:
    known = frozenset(path for path in files if path in code.files)
    return FilesAtHand(known, frozenset(target for path in known for target in code.imports(path)) - known, strict)


def find_named_definitions(code: CodeIndex, text: str, at: FilesAtHand) -> Iterator[SymbolPlace]:
    """By a plain word only if nothing in the text is written like a name."""
    forms: dict[str, NameForm] = {}
    for match in DOTTED_NAME.finditer(text):
        forms[match[0]] = max(forms.get(match[0], NameForm.PLAIN), classify_name_form(text, match))
    sure = [
        place
        for name, how in forms.items()
        if how is not NameForm.PLAIN
        for place in resolve_named_definition(code, name, how, at)
    ]
    yield from sure or [
        place for name, how in forms.items() if how is NameForm.PLAIN for place in resolve_named_definition(code, name, how, at)
    ]


def classify_name_form(text: str, match: re.Match[str]) -> NameForm:
    name, before, after = match[0], text[: match.start()], text[match.end() : match.end() + 1]
    if after == "(" or re.search(r"[_.\d]|[a-z][A-Z]", name):
        return NameForm.CODE
    if before[-1:] in ("`", "'", '"') and after == before[-1:]:
        return NameForm.QUOTED
    capital = name[0].isupper() and re.search(r"[\w,;)`'\"]\s+$", before)
    return NameForm.CAPITAL if capital else NameForm.PLAIN


def resolve_named_definition(code: CodeIndex, name: str, how: NameForm, at: FilesAtHand) -> list[SymbolPlace]:
    """What a name stands for in the files at hand, else anywhere, unless it could be many things."""
    if how is NameForm.PLAIN and (len(name) < MIN_PLAIN_NAME_CHARACTERS or name.lower() in STOP_WORDS):
        return []
    holder, _, short = name.rpartition(".")
    found = code.defining(name) or [
        place for place in code.defining(short) if holder and holder.split(".")[-1] in split_module_path(place)
    ]
    for near in (at.files, at.imported) if how is not NameForm.PLAIN else ():
        here = [
            place
            for place in found
            if place.path in near and (how is NameForm.CODE or near is at.files or is_top_level_definition(place))
        ]
        if here := [place for place in here if is_top_level_definition(place)] or here:
            return here if len(here) <= MAX_DEFINITIONS_PER_NAME else []
    kept = [place for place in found if how is NameForm.CODE or is_top_level_definition(place)]
    kept = [place for place in kept if not code.is_test(place.path)] or kept
    return kept if len(kept) <= MAX_DEFINITIONS_PER_NAME and is_telling_name(code, name, kept, how, at) else []


def is_top_level_definition(place: SymbolPlace) -> bool:
    return place.symbol.kind in DEFINITION_KINDS and "." not in place.symbol.name


def is_telling_name(code: CodeIndex, name: str, found: Sequence[SymbolPlace], how: NameForm, at: FilesAtHand) -> bool:
    """Whether a name means what is defined somewhere else. A word that many files say is a word there."""
    if how is NameForm.CODE:
        return True
    if how is NameForm.CAPITAL and at.strict:
        return False
    return len(code.words(name)) <= max(MAX_FILES_WITH_RARE_WORD, len(code.files) // FILES_PER_RARE_WORD) and (
        how is not NameForm.PLAIN or len(found) == 1
    )


def find_option_classes(code: CodeIndex, text: str) -> Iterator[SymbolPlace]:
    """Classes of the product that options are called after, where there is one of the name: `--status` takes a Status."""
    for option in dict.fromkeys(OPTION_NAME.findall(text)):
        name = "".join(part.capitalize() for part in option.split("-"))
        found = [place for place in code.defining(name) if place.symbol.kind is SymbolKind.CLASS and not code.is_test(place.path)]
        yield from found if len(found) == 1 else ()


def split_module_path(place: SymbolPlace) -> list[str]:
    return re.split(r"[/.]", place.path)


def find_named_files(code: CodeIndex, text: str) -> set[str]:
    """Files of code that a text names, by path or by a name that only one has."""
    found: set[str] = set()
    for word in PATH_PATTERN.findall(text):
        ends = [path for path in code.files if path == word or path.endswith("/" + word)]
        found.update(ends if len(ends) == 1 or word in ends else ())
    return found
