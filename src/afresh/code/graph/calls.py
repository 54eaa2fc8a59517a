"""Who uses a symbol of a language that is not followed: by its name, in files that can see where it is defined."""

import re
from collections.abc import Iterator, Sequence

from afresh.code.graph.class_hierarchy import (
    find_all_subclasses,
    find_class_places,
    find_overriding_methods,
    list_ancestors,
    owner_from_method,
)
from afresh.code.graph.evaluate_expressions import evaluate_expression
from afresh.code.graph.inference_session import InferenceSession
from afresh.code.graph.inferred_values import ClassValue
from afresh.code.graph.python_callees import find_python_callees as callees_in_python
from afresh.code.graph.python_callers import find_python_callers as callers_in_python
from afresh.code.graph.resolve_names import resolve_binding
from afresh.code.index.code_index import CodeIndex
from afresh.code.recent_answers import RecentAnswers
from afresh.code.search_hit import SymbolUse, SymbolUses, UseKind
from afresh.core.symbol import Symbol, SymbolKind, SymbolPlace

MAX_SEARCHED_FILES = 400
"""That one question may look into."""


def find_callers(code: CodeIndex, place: SymbolPlace, most: int = MAX_SEARCHED_FILES) -> SymbolUses:
    """Every use of it: calls, decorations, imports, and where it is handed on. Python's functions and
    classes are followed; constants, and other languages, go by name."""
    if code.reading(place.path).language != "python" or place.symbol.kind is SymbolKind.CONSTANT:
        return find_callers_by_name(code, place, most)
    return callers_in_python(start_inference(code), place, most)


def find_callees(code: CodeIndex, place: SymbolPlace) -> SymbolUses:
    """What it calls within this tree; for a class, what its methods call. Only Python is followed."""
    return callees_in_python(start_inference(code), place) if code.reading(place.path).language == "python" else SymbolUses()


def find_base_classes(code: CodeIndex, place: SymbolPlace) -> Sequence[SymbolPlace]:
    """Classes of this tree that it extends, in the order in which Python asks them."""
    world = start_inference(code)
    return find_class_places(world, list_ancestors(world, ClassValue(place.path, place.symbol.name))) if is_class(place) else []


def find_subclasses(code: CodeIndex, place: SymbolPlace) -> Sequence[SymbolPlace]:
    """Classes of this tree that extend it, directly or through others; nearest first."""
    world = start_inference(code)
    return (
        find_class_places(world, find_all_subclasses(world, ClassValue(place.path, place.symbol.name))) if is_class(place) else []
    )


def find_overrides(code: CodeIndex, place: SymbolPlace) -> Sequence[SymbolPlace]:
    """Methods of classes below that take the place of this one."""
    owner = owner_from_method(place)
    return find_overriding_methods(start_inference(code), owner, place.symbol.short) if owner else []


def is_class(place: SymbolPlace) -> bool:
    return place.symbol.kind in (SymbolKind.CLASS, SymbolKind.INTERFACE)


def start_inference(code: CodeIndex) -> InferenceSession:
    return InferenceSession(code, evaluate_expression, resolve_binding)


IMPORT_LINE = re.compile(r"^\s*(?:import|from|use|using|pub use|require|export \{|export \* from|@import|#include)\b")
PACKAGE_LANGUAGES = {"go", "java", "c_sharp", "rust"}
"""Languages in which files of a folder see each other without an import."""
COMMENT_LINE = re.compile(r"^\s*(?://|/\*|\*|#(?!\[|include))")


def find_callers_by_name(code: CodeIndex, place: SymbolPlace, most: int) -> SymbolUses:
    name, home = place.symbol.short, place.path
    folder = home.rpartition("/")[0]
    seen = {home, *code.importers(home)}
    language = code.reading(home).language
    speaking = [
        path
        for path in code.mentioning(name)
        if (path in seen or (language in PACKAGE_LANGUAGES and path.rpartition("/")[0] == folder))
        and code.reading(path).language in list_related_languages(language)
    ]
    speaking.sort(key=lambda path: (path != home, path))
    found = [call for path in speaking[:most] for call in _calls_in_file(code, place, path)]
    return SymbolUses(tuple(sorted(found, key=lambda call: (call.path, call.line))), max(0, len(speaking) - most))


def list_related_languages(language: str) -> set[str]:
    """Languages whose files may import each other."""
    web = {"javascript", "typescript", "tsx"}
    return web if language in web else {language}


def _calls_in_file(code: CodeIndex, place: SymbolPlace, path: str) -> Iterator[SymbolUse]:
    word = re.compile(rf"(?<![\w$]){re.escape(place.symbol.short)}(?![\w$])")
    called = re.compile(rf"(?<![\w$]){re.escape(place.symbol.short)}\s*(?:<[^()<>]*>|::<[^()]*>)?[!]?\(")
    symbols = code.reading(path).symbols
    defined = {symbol.line for symbol in symbols if symbol.short == place.symbol.short}
    for number, line in enumerate(code.text(path).splitlines(), 1):
        if number in defined or not word.search(line) or COMMENT_LINE.match(line):
            continue
        way = UseKind.IMPORT if IMPORT_LINE.match(line) else UseKind.CALL if called.search(line) else UseKind.PASSED
        yield SymbolUse(path, number, find_enclosing_name(symbols, number), line.strip(), False, way, place)


def find_enclosing_name(symbols: tuple[Symbol, ...], line: int) -> str:
    """The innermost symbol around a line."""
    around = [symbol for symbol in symbols if symbol.line <= line <= symbol.end and symbol.kind not in ("constant",)]
    return max(around, key=lambda symbol: (symbol.line, -symbol.end)).name if around else ""


MAX_FILES_PER_ITEM = 40
MAX_CACHED_ANSWERS = 128
"""Files that are looked into for one name, and answers that are kept."""
_recent_calls: RecentAnswers[tuple[str, str, SymbolPlace], SymbolUses] = RecentAnswers(MAX_CACHED_ANSWERS)


def find_callers_cached(code: CodeIndex, place: SymbolPlace) -> SymbolUses:
    return _recent_calls.get_or_make(("callers", code.digest, place), lambda: find_callers(code, place, MAX_FILES_PER_ITEM))


def find_callees_cached(code: CodeIndex, place: SymbolPlace) -> SymbolUses:
    return _recent_calls.get_or_make(("callees", code.digest, place), lambda: find_callees(code, place))
