"""Finds symbols by name: exact, in another spelling, by part or words of the name, and otherwise similar names."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from difflib import get_close_matches

from afresh.code.graph import calls
from afresh.code.index.code_index import CodeIndex
from afresh.code.search_hit import MatchQuality, SymbolMatches, SymbolUse, UseKind
from afresh.core.search_words import split_words
from afresh.core.symbol import HIT_REMARK_START, SearchHit, SymbolKind, SymbolPlace
from afresh.core.truncate import to_one_line

MAX_FOUND_SYMBOLS = 20
MAX_SIMILAR_SYMBOLS = 8
MIN_NAME_SIMILARITY = 0.7
"""Similarity from which on a name is offered instead."""


def find_symbols(code: CodeIndex, asked: str, kinds: Collection[SymbolKind] = (), most: int = MAX_FOUND_SYMBOLS) -> SymbolMatches:
    """Find symbols by `name`, `Class.method`, a part of either, or `path:name` for those of one file."""
    path, name = split_path_and_name(asked)
    fits = make_place_filter(path, kinds)
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
        if places := [place for place in everything if wanted(place)]:
            return limit_found_symbols(code, places, match, most)
    return limit_found_symbols(
        code, find_similar_names(everything, name), MatchQuality.NEAR, min(most, MAX_SIMILAR_SYMBOLS), name
    )


def split_path_and_name(asked: str) -> tuple[str, str]:
    """Return the file and the name. `::` and `#` of other languages are accepted, too."""
    asked = asked.strip().removesuffix("()").replace("::", ".").replace("#", ".")
    path, colon, name = asked.rpartition(":")
    return (path, name.strip(".")) if colon else ("", asked.strip("."))


def make_place_filter(path: str, kinds: Collection[SymbolKind]) -> Callable[[SymbolPlace], bool]:
    def fits(place: SymbolPlace) -> bool:
        here = not path or place.path == path or place.path.endswith(f"/{path}")
        return here and (not kinds or place.symbol.kind in kinds)

    return fits


def list_all_symbols(code: CodeIndex) -> Iterable[SymbolPlace]:
    return (SymbolPlace(path, symbol) for path in code.files for symbol in code.reading(path).symbols)


def keep_last_definitions(places: Iterable[SymbolPlace]) -> list[SymbolPlace]:
    """Return each name of a file once, with its last definition, which is the one in effect."""
    return list({(place.path, place.symbol.name): place for place in places}.values())


def limit_found_symbols(
    code: CodeIndex, places: list[SymbolPlace], match: MatchQuality, most: int, near: str = ""
) -> SymbolMatches:
    if not near:
        places = sorted(places, key=lambda place: symbol_sort_key(code, place))
    return SymbolMatches(tuple(places[:most]), match, max(0, len(places) - most))


def symbol_sort_key(code: CodeIndex, place: SymbolPlace) -> tuple[bool, bool, bool, int, str, int]:
    """Return a sort key: code before tests, functions and classes before constants, public before private."""
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
    """Return a predicate: dotted names are searched in the qualified name, others only in its last part."""
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


SEARCHABLE_NAME = re.compile(r"(?:def |class |async def )?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(\)?)?")
MAX_DEFINITIONS = 8
MAX_FOLLOWED_DEFINITIONS = 3
MAX_SEARCHED_FILES = 60
MAX_USES = 40
MAX_LINE_CHARACTERS = 140


def find_definitions_and_uses(code: CodeIndex, text: str) -> list[SearchHit]:
    """Return definitions, those outside tests first, then their uses; empty if the text names no definition of this tree."""
    match = SEARCHABLE_NAME.fullmatch(text.strip())
    places = sorted(code.defining(match[1]) if match else (), key=lambda place: (code.is_test(place.path), place.path))
    defined = [
        SearchHit(place.path, place.symbol.line, to_one_line(place.symbol.signature, MAX_LINE_CHARACTERS), True)
        for place in places[:MAX_DEFINITIONS]
    ]
    return [*defined, *list(find_uses(code, places[:MAX_FOLLOWED_DEFINITIONS]))[:MAX_USES]]


def find_uses(code: CodeIndex, places: list[SymbolPlace]) -> Iterator[SearchHit]:
    seen: set[tuple[str, int]] = set()
    for place in places:
        for use in calls.find_callers(code, place, MAX_SEARCHED_FILES):
            if (use.path, use.line) not in seen and use.kind is not UseKind.IMPORT:
                seen.add((use.path, use.line))
                yield SearchHit(use.path, use.line, render_use(use), False)


def render_use(use: SymbolUse) -> str:
    where = [*([f"in {use.within}"] if use.within else []), *([] if use.sure else ["by name"])]
    return to_one_line(use.text, MAX_LINE_CHARACTERS) + (f"{HIT_REMARK_START}{', '.join(where)})" if where else "")
