"""What a text has to do with the code: definitions and files that it names, and those that share its words. Rare words count for
more."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from afresh.code.caches import RecentAnswers
from afresh.code.index.code_index import CodeIndex
from afresh.code.ranking.signals import measure_rarity, saturate_count
from afresh.core.search_words import STOP_WORDS, drop_stop_words, split_words, stem_word
from afresh.core.symbol import Symbol, SymbolKind, SymbolPlace

LENGTH_WEIGHT = 0.6
"""How much a long text must say more often."""
LINES_OF_MEAN_DEFINITION = 20
NAME_WORD_WEIGHT = 2.0
COMMON_WORD_WEIGHT = 0.45
"""What a word tells that every second file says."""
DEFINITION_KINDS = (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CLASS, SymbolKind.INTERFACE)


def weigh_words(code: CodeIndex, text: str) -> dict[str, float]:
    """The words of a text with what each tells about this tree."""
    many = len(code.files)
    words = dict.fromkeys(stem_word(word) for word in drop_stop_words(split_words(text)))
    said = {word: len(code.words(word)) for word in words}
    return {word: measure_rarity(count, many) for word, count in said.items() if count}


def score_files_by_words(code: CodeIndex, words: Mapping[str, float]) -> dict[str, float]:
    """Files that say any of them, with what that comes to."""
    average = max(1.0, sum(map(code.length, code.files)) / max(1, len(code.files)))
    found: dict[str, float] = {}
    for word, weight in words.items():
        for path, count in code.words(word).items():
            found[path] = found.get(path, 0.0) + weight * saturate_count(count, code.length(path) / average, LENGTH_WEIGHT)
    return found


MAX_CACHED_SCORES = 64
ScoreKey = tuple[str, str, tuple[tuple[str, float], ...]]
_recent_scores: RecentAnswers[ScoreKey, Mapping[Symbol, float]] = RecentAnswers(MAX_CACHED_SCORES)
"""Several sections ask the same of a file."""


def score_symbols_by_words(code: CodeIndex, path: str, words: Mapping[str, float]) -> Mapping[Symbol, float]:
    """Definitions of a file that say any of them. A class is weighed without its methods."""
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
    """Of a class those that belong to none of its definitions."""
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
    """Whether a word that tells something is in the name itself; by what a body says alone too much is found."""
    return any(words.get(stem_word(word), 0.0) > COMMON_WORD_WEIGHT for word in split_words(name))


def find_mention_lines(text: str, name: str) -> list[int]:
    """Numbers of the lines that say a name as a word of its own."""
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return [number for number, line in enumerate(text.splitlines(), 1) if pattern.search(line)]


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
