"""Who uses a symbol of a language that is not followed: by its name, in files that can see where it is defined."""

import re
from collections.abc import Iterator

from afresh.domain.calls import SymbolUse, SymbolUses, UseKind
from afresh.domain.code import SymbolPlace, Symbol
from afresh.insight.code import CodeIndex

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
