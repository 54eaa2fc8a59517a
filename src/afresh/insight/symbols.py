"""Symbols by name: as written, in another spelling, by a part or by words of it, and failing all that, similar ones."""

from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches

from afresh.domain.code import SymbolKind, SymbolPlace
from afresh.domain.found import SymbolMatches, MatchQuality
from afresh.domain.words import split_words
from afresh.insight.code import CodeIndex

MAX_FOUND_SYMBOLS = 20
MAX_SIMILAR_SYMBOLS = 8
MIN_NAME_SIMILARITY = 0.7
"""Likeness from which on a name is offered instead."""


def find_symbols(code: CodeIndex, asked: str, kinds: Collection[SymbolKind] = (), most: int = MAX_FOUND_SYMBOLS) -> SymbolMatches:
    """`name`, `Class.method`, a part of either, or `path:name` for those of one file."""
    path, name = split_path_and_name(asked)
    fits = make_place_filter(code, path, kinds)
    exact = keep_last_definitions(place for place in code.defining(name) if fits(place))
    if exact:
        return limit_found_symbols(code, exact, MatchQuality.EXACT, most)
    everything = keep_last_definitions(place for place in list_all_symbols(code) if fits(place))
    for match, test in (
        (MatchQuality.SPELLING, match_spelling),
        (MatchQuality.PART, match_part),
        (MatchQuality.WORDS, match_words),
    ):
        wanted = test(name)
        if found := [place for place in everything if wanted(place)]:
            return limit_found_symbols(code, found, match, most)
    return limit_found_symbols(
        code, find_similar_names(everything, name), MatchQuality.NEAR, min(most, MAX_SIMILAR_SYMBOLS), name
    )


def split_path_and_name(asked: str) -> tuple[str, str]:
    """The file and the name. Colons of other languages and a line number at the end are understood too."""
    asked = asked.strip().removesuffix("()").replace("::", ".").replace("#", ".")
    path, colon, name = asked.rpartition(":")
    return (path, name.strip(".")) if colon else ("", asked.strip("."))


def make_place_filter(code: CodeIndex, path: str, kinds: Collection[SymbolKind]) -> Callable[[SymbolPlace], bool]:
    def fits(place: SymbolPlace) -> bool:
        here = not path or place.path == path or place.path.endswith(f"/{path}")
        return here and (not kinds or place.symbol.kind in kinds)

    return fits


def list_all_symbols(code: CodeIndex) -> Iterable[SymbolPlace]:
    return (SymbolPlace(path, symbol) for path in code.files for symbol in code.reading(path).symbols)


def keep_last_definitions(places: Iterable[SymbolPlace]) -> list[SymbolPlace]:
    """A name that is defined several times in a file stands once, with its last definition, which is the one that counts."""
    return list({(place.path, place.symbol.name): place for place in places}.values())


def limit_found_symbols(
    code: CodeIndex, found: list[SymbolPlace], match: MatchQuality, most: int, near: str = ""
) -> SymbolMatches:
    if not near:
        found = sorted(found, key=lambda place: symbol_sort_key(code, place))
    return SymbolMatches(tuple(found[:most]), match, max(0, len(found) - most))


def symbol_sort_key(code: CodeIndex, place: SymbolPlace) -> tuple[bool, bool, bool, int, str, int]:
    """What people mean most often: code before tests, functions and classes before constants, public before private."""
    symbol = place.symbol
    return (
        code.is_test(place.path),
        symbol.kind is SymbolKind.CONSTANT,
        not symbol.public,
        len(symbol.name),
        place.path,
        symbol.line,
    )


def normalize_spelling(name: str) -> str:
    return name.replace("_", "").lower()


def match_spelling(name: str) -> Callable[[SymbolPlace], bool]:
    wanted = f".{normalize_spelling(name)}"
    return lambda place: f".{normalize_spelling(place.symbol.name)}".endswith(wanted)


def match_part(name: str) -> Callable[[SymbolPlace], bool]:
    """A dotted name is looked for in the whole, another one in the last part alone."""
    wanted, whole = normalize_spelling(name), "." in name
    return lambda place: bool(wanted) and wanted in normalize_spelling(place.symbol.name if whole else place.symbol.short)


def match_words(name: str) -> Callable[[SymbolPlace], bool]:
    wanted = set(split_words(name.replace(".", " ")))
    parts = {word for word in wanted if not any(word != other and other in word for other in wanted)}
    return lambda place: bool(parts) and parts <= set(split_words(place.symbol.name.replace(".", " ")))


def find_similar_names(places: list[SymbolPlace], name: str) -> list[SymbolPlace]:
    short = normalize_spelling(name.rpartition(".")[2])
    by_name: dict[str, list[SymbolPlace]] = {}
    for place in places:
        by_name.setdefault(normalize_spelling(place.symbol.short), []).append(place)
    alike = get_close_matches(short, by_name, n=MAX_SIMILAR_SYMBOLS, cutoff=MIN_NAME_SIMILARITY)
    return [place for each in alike for place in sorted(by_name[each], key=lambda place: (place.path, place.symbol.line))]
