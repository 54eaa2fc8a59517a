"""Matches a text against the code: definitions and files that it names, and those that share its words. Rare words weigh more."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from afresh.code.caches import RecentAnswers
from afresh.code.index.code_index import CodeIndex
from afresh.code.names_in_text import NamedWord, NameForm, find_names
from afresh.code.ranking.signals import measure_rarity, saturate_count
from afresh.core.search_words import STOP_WORDS, drop_stop_words, split_words, stem_word
from afresh.core.symbol import Symbol, SymbolKind, SymbolPlace

LENGTH_WEIGHT = 0.6
"""Length normalisation of BM25: how much long texts are penalised."""
LINES_OF_MEAN_DEFINITION = 20
NAME_WORD_WEIGHT = 2.0
COMMON_WORD_WEIGHT = 0.45
"""Minimum weight of a word to count: that of a word that about every second file contains."""
DEFINITION_KINDS = (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CLASS, SymbolKind.INTERFACE)


def weigh_words(code: CodeIndex, text: str) -> dict[str, float]:
    """Return the stemmed words of a text that occur in this tree, weighted by rarity."""
    many = len(code.files)
    words = dict.fromkeys(stem_word(word) for word in drop_stop_words(split_words(text)))
    said = {word: len(code.words(word)) for word in words}
    return {word: measure_rarity(count, many) for word, count in said.items() if count}


MAX_CACHED_SCORES = 64
ScoreKey = tuple[str, str, tuple[tuple[str, float], ...]]
_recent_scores: RecentAnswers[ScoreKey, Mapping[Symbol, float]] = RecentAnswers(MAX_CACHED_SCORES)
"""Cached because several sections ask the same of a file."""


def score_symbols_by_words(code: CodeIndex, path: str, words: Mapping[str, float]) -> Mapping[Symbol, float]:
    """Return a score for each definition of a file that contains any of the words. A class is scored without its methods."""
    text = code.text(path)
    key = (path, text, tuple(words.items()))
    return _recent_scores.get_or_make(key, lambda: _score_symbols(text.splitlines(), code.reading(path).symbols, words))


def _score_symbols(lines: Sequence[str], held: Sequence[Symbol], words: Mapping[str, float]) -> dict[Symbol, float]:
    found: dict[Symbol, float] = {}
    for symbol in held:
        if symbol.kind not in DEFINITION_KINDS:
            continue
        inside = [other for other in held if other is not symbol and symbol.line <= other.line and other.end <= symbol.end]
        body = list_own_lines(lines, symbol, inside)
        if score := score_words_in_text(f"{symbol.short} {' '.join(body)}", symbol.short, words, len(body)):
            found[symbol] = score
    return found


def list_own_lines(lines: Sequence[str], symbol: Symbol, inside: Sequence[Symbol]) -> list[str]:
    """Return the lines of a symbol; for a class, without those of the definitions inside it."""
    taken = (
        [other for other in inside if other.kind in DEFINITION_KINDS]
        if symbol.kind in (SymbolKind.CLASS, SymbolKind.INTERFACE)
        else []
    )
    numbers = range(symbol.line, min(symbol.end, len(lines)) + 1)
    return [lines[number - 1] for number in numbers if not any(one.line <= number <= one.end for one in taken)]


def score_words_in_text(text: str, name: str, words: Mapping[str, float], size: int) -> float:
    said, called = Counter(map(stem_word, split_words(text))), {stem_word(word) for word in split_words(name)}
    share = size / LINES_OF_MEAN_DEFINITION
    once = sum(weight * saturate_count(said[word], share, LENGTH_WEIGHT) for word, weight in words.items() if word in said)
    return once + NAME_WORD_WEIGHT * sum(weight for word, weight in words.items() if word in called)


def has_word_in_name(name: str, words: Mapping[str, float]) -> bool:
    """Whether a weighty word is in the name itself; matches in the body alone would be too many."""
    return any(words.get(stem_word(word), 0.0) > COMMON_WORD_WEIGHT for word in split_words(name))


def find_mention_lines(text: str, name: str) -> list[int]:
    """Return the numbers of lines that contain a name as a whole word."""
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return [number for number, line in enumerate(text.splitlines(), 1) if pattern.search(line)]


OPTION_NAME = re.compile(r"(?<![\w-])--([a-z]\w+(?:-\w+)*)")
MIN_PLAIN_NAME_CHARACTERS = 4
MAX_DEFINITIONS_PER_NAME = 3
MAX_FILES_WITH_RARE_WORD = 3
FILES_PER_RARE_WORD = 40
"""A plain word must have this many characters to be looked up as a name, may match this many definitions, and is rare if at most
this many files, or one file in this many, contain it.
"""


@dataclass(frozen=True, slots=True)
class FilesAtHand:
    """The files that the work is about and those that they import. Names are looked up there first."""

    files: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    strict: bool = False
    """Whether capitalised words are looked up only in these files. For the model's thoughts, which often name outside code."""


def find_files_at_hand(code: CodeIndex, files: Sequence[str], strict: bool = False) -> FilesAtHand:
    known = frozenset(path for path in files if path in code.files)
    return FilesAtHand(known, frozenset(target for path in known for target in code.imports(path)) - known, strict)


def find_named_definitions(code: CodeIndex, text: str, at: FilesAtHand) -> Iterator[SymbolPlace]:
    """Yield the definitions that a text names, qualified names and those with few definitions first. Where something in it is
    written like a name, plain words are only looked up that are joined with it: `load and load_all()`.
    """
    forms: dict[str, NameForm] = {}
    for word in (words := find_names(text)):
        forms[word.name] = max(forms.get(word.name, NameForm.PLAIN), word.form)
    found = {
        name: places
        for name, how in forms.items()
        if how is not NameForm.PLAIN and (places := resolve_named_definition(code, name, how, at))
    }
    found |= find_joined_definitions(code, text, words, found)
    exact = sorted(found, key=lambda name: ("." not in name, len(found[name])))
    yield from [place for name in exact for place in found[name]] or [
        place for name, how in forms.items() if how is NameForm.PLAIN for place in resolve_named_definition(code, name, how, at)
    ]


JOINT = re.compile(r"[`'\"]?(?:(?:\(\))?,? (?:and|or) |(?:\(\))?, ?|/)[`'\"]?")


def find_joined_definitions(
    code: CodeIndex, text: str, named_words: Sequence[NamedWord], named: Collection[str]
) -> dict[str, list[SymbolPlace]]:
    """Return the only definition of each plain word that a comma, `and` or `or` joins with a name."""
    words, found = [one for one in named_words if one.name not in ("and", "or")], dict[str, list[SymbolPlace]]()
    joints = [(a.name, b.name) for a, b in pairwise(words) if JOINT.fullmatch(text, a.end, b.start)]
    for known, other in (*joints, *[(b, a) for a, b in reversed(joints)]):
        if (known in named or known in found) and other not in named and len(other) >= MIN_PLAIN_NAME_CHARACTERS:
            places = [] if other.lower() in STOP_WORDS else list(code.defining(other))
            if len(places) == 1 and is_top_level_definition(places[0]):
                found[other] = places
    return found


def resolve_named_definition(code: CodeIndex, name: str, how: NameForm, at: FilesAtHand) -> list[SymbolPlace]:
    """Return the definitions of a name in the files at hand, otherwise anywhere; empty if there are too many. Of overloads the
    last; no attributes, of which any class may have one of that name.
    """
    if how is NameForm.PLAIN and (len(name) < MIN_PLAIN_NAME_CHARACTERS or name.lower() in STOP_WORDS):
        return []
    holder, _, short = name.rpartition(".")
    found = code.defining(name) or [
        place for place in code.defining(short) if holder and holder.split(".")[-1] in split_module_path(place)
    ]
    if not holder:
        found = [place for place in found if place.symbol.kind is not SymbolKind.CONSTANT or "." not in place.symbol.name]
    found = list({(place.path, place.symbol.name): place for place in found}.values())
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
    """Whether a name refers to a definition outside the files at hand. A word that many files contain is a plain word."""
    if how is NameForm.CODE:
        return True
    if how is NameForm.CAPITAL and at.strict:
        return False
    return len(code.words(name)) <= max(MAX_FILES_WITH_RARE_WORD, len(code.files) // FILES_PER_RARE_WORD) and (
        how is not NameForm.PLAIN or len(found) == 1
    )


def find_option_classes(code: CodeIndex, text: str) -> Iterator[SymbolPlace]:
    """Yield the product's classes that are named like an option of the text: `--status` gives `Status`."""
    for option in dict.fromkeys(OPTION_NAME.findall(text)):
        name = "".join(part.capitalize() for part in option.split("-"))
        found = [place for place in code.defining(name) if place.symbol.kind is SymbolKind.CLASS and not code.is_test(place.path)]
        yield from found if len(found) == 1 else ()


def split_module_path(place: SymbolPlace) -> list[str]:
    return re.split(r"[/.]", place.path)
