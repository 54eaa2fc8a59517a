"""Who uses a symbol of a language that is not followed: by its name, in files that can see where it is defined."""

import re
from collections.abc import Iterator

from afresh.domain.calls import Call, Calls, Way
from afresh.domain.code import Place, Symbol
from afresh.insight.code import Code

IMPORTING = re.compile(r"^\s*(?:import|from|use|using|pub use|require|export \{|export \* from|@import|#include)\b")
PACKAGES = {"go", "java", "c_sharp", "rust"}
"""Languages in which files of a folder see each other without an import."""
COMMENT = re.compile(r"^\s*(?://|/\*|\*|#(?!\[|include))")


def callers_by_name(code: Code, place: Place, most: int) -> Calls:
    name, home = place.symbol.short, place.path
    folder = home.rpartition("/")[0]
    seen = {home, *code.importers(home)}
    language = code.reading(home).language
    speaking = [
        path
        for path in code.mentioning(name)
        if (path in seen or (language in PACKAGES and path.rpartition("/")[0] == folder))
        and code.reading(path).language in related(language)
    ]
    speaking.sort(key=lambda path: (path != home, path))
    found = [call for path in speaking[:most] for call in _in_file(code, place, path)]
    return Calls(tuple(sorted(found, key=lambda call: (call.path, call.line))), max(0, len(speaking) - most))


def related(language: str) -> set[str]:
    """Languages whose files may import each other."""
    web = {"javascript", "typescript", "tsx"}
    return web if language in web else {language}


def _in_file(code: Code, place: Place, path: str) -> Iterator[Call]:
    word = re.compile(rf"(?<![\w$]){re.escape(place.symbol.short)}(?![\w$])")
    called = re.compile(rf"(?<![\w$]){re.escape(place.symbol.short)}\s*(?:<[^()<>]*>|::<[^()]*>)?[!]?\(")
    symbols = code.reading(path).symbols
    defined = {symbol.line for symbol in symbols if symbol.short == place.symbol.short}
    for number, line in enumerate(code.text(path).splitlines(), 1):
        if number in defined or not word.search(line) or COMMENT.match(line):
            continue
        way = Way.IMPORT if IMPORTING.match(line) else Way.CALL if called.search(line) else Way.PASSED
        yield Call(path, number, within(symbols, number), line.strip(), False, way, place)


def within(symbols: tuple[Symbol, ...], line: int) -> str:
    """The innermost symbol around a line."""
    around = [symbol for symbol in symbols if symbol.line <= line <= symbol.end and symbol.kind not in ("constant",)]
    return max(around, key=lambda symbol: (symbol.line, -symbol.end)).name if around else ""
