"""Finds who uses a symbol and what it calls by name, where types are not inferred: all languages but Python, and constants.

A use is sure where the file imports the name from the definition's file, or is that file and defines it once.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from afresh.code.index.code_index import CodeIndex
from afresh.code.search_hit import SymbolUse, SymbolUses, UseKind
from afresh.core.symbol import Symbol, SymbolKind, SymbolPlace

IMPORT_LINE = re.compile(r"^\s*(?:import|from|use|using|pub use|require|export \{|export \* from|@import|#include)\b")
REQUIRE_LINE = re.compile(r"^\s*(?:const|let|var)\s++[^=\s][^=]*+=\s*require\(")
REEXPORT = re.compile(r"^[^\S\n]*+(?:export\s*(?:\*|\{[^{}]*\}\s*from)|pub(?:\([\w ]+\))?\s+(?:use|mod)\b)", re.MULTILINE)
MAX_REEXPORTS = 3
"""Files that a name is handed on by, one after another."""
PACKAGE_LANGUAGES = {"go", "java", "c_sharp", "rust"}
"""Languages in which files of a folder see each other without an import."""
WEB_LANGUAGES = {"javascript", "typescript", "tsx"}
OBJECT_LANGUAGES = {*WEB_LANGUAGES, "go", "rust"}
"""Languages in which a method is always called on something: its bare name is another thing."""
_COMMENTS = r"//[^\n]*|/\*.*?\*/"
_QUOTED = r'"(?:\\.|[^"\\\n])*"'
_TEXT_PATTERNS = {
    "rust": rf"{_COMMENTS}|r#\".*?\"#|{_QUOTED}|'(?:\\[^\n']+|[^'\\\n])'",
    "python": rf'#[^\n]*|""".*?"""|\'\'\'.*?\'\'\'|{_QUOTED}|\'(?:\\.|[^\'\\\n])*\'',
}
_OTHER_TEXTS = rf"{_COMMENTS}|{_QUOTED}|`(?:\\.|[^`\\])*`|'(?:\\.|[^'\\\n])*'"
CALL = re.compile(
    r"(?P<before>[\w$)\]?]\s*(?:\.|::)\s*)?(?<![\w$])(?P<name>[A-Za-z_$][\w$]*+)\s*+(?:<[\w\s,<>&'\[\]]{0,300}>|::<[^()]{0,300}>)?\("
)
KEYWORD = re.compile(r"if|for|while|switch|catch|return|function|match|fn|func|new|typeof|super|await|async|loop|in|of")
FUNCTION_KINDS = (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CLASS)
MAX_NAMED_CANDIDATES = 4
"""A name that more definitions than this have is ambiguous and not matched."""


@lru_cache(maxsize=256)
def blank_texts(text: str, language: str) -> str:
    """Return the text with comments and strings replaced by blanks; lines and columns stay."""
    pattern = re.compile(_TEXT_PATTERNS.get(language, _OTHER_TEXTS), re.DOTALL)
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def find_callers_by_name(code: CodeIndex, place: SymbolPlace, most: int) -> SymbolUses:
    name, home = place.symbol.short, place.path
    folder, language = home.rpartition("/")[0], code.reading(home).language
    seen = _list_files_that_see(code, home)
    speaking = [
        path
        for path in code.mentioning(name)
        if (path in seen or (language in PACKAGE_LANGUAGES and path.rpartition("/")[0] == folder))
        and code.reading(path).language in list_related_languages(language)
        and not code.reading(path).fault
    ]
    speaking.sort(key=lambda path: (path != home, path))
    calls = [call for path in speaking[:most] for call in _calls_in_file(code, place, path)]
    return SymbolUses(tuple(sorted(calls, key=lambda call: (call.path, call.line))), max(0, len(speaking) - most))


def list_related_languages(language: str) -> set[str]:
    """Return the languages whose files may import each other."""
    return WEB_LANGUAGES if language in WEB_LANGUAGES else {language}


def _list_files_that_see(code: CodeIndex, home: str) -> set[str]:
    """Return the file, those that import it, and those that import one which only hands its names on."""
    seen, layer = {home}, {home}
    for depth in range(MAX_REEXPORTS):
        users = {user for path in layer for user in code.importers(path)} - seen
        seen |= users
        layer = {path for path in users if REEXPORT.search(code.text(path))} if depth < MAX_REEXPORTS - 1 else set()
    return seen


def _calls_in_file(code: CodeIndex, place: SymbolPlace, path: str) -> Iterator[SymbolUse]:
    name, reading, text = re.escape(place.symbol.short), code.reading(path), code.text(path)
    word = re.compile(rf"(?<![\w$])(?<!\.\.){name}(?![\w$])")
    called = re.compile(rf"(?<![\w$]){name}\s*(?:<[^()<>]*>|::<[^()]*>)?[!]?\(")
    defined = Counter(symbol.line for symbol in reading.symbols if symbol.short == place.symbol.short)
    bound, lines = _binds_name(code, place, path), text.splitlines()
    is_method = place.symbol.kind is SymbolKind.METHOD and reading.language in OBJECT_LANGUAGES
    for number, line in enumerate(blank_texts(text, reading.language).splitlines(), 1):
        match = next(islice(word.finditer(line), defined[number], None), None)  # definitions come first in their line
        if match is None:
            continue
        on_object = line[: match.start()].rstrip().endswith((".", "::"))
        if is_method and not on_object:
            continue
        imported = IMPORT_LINE.match(line) or REQUIRE_LINE.match(line)
        way = UseKind.IMPORT if imported else UseKind.CALL if called.search(line, match.start()) else UseKind.PASSED
        within = find_enclosing_name(reading.symbols, number)
        yield SymbolUse(path, number, within, lines[number - 1].strip(), bound and not on_object, way, place)


def _binds_name(code: CodeIndex, place: SymbolPlace, path: str) -> bool:
    """Whether the plain name means the definition in this file, which must be a function or class of its own."""
    name, reading = place.symbol.short, code.reading(path)
    if reading.language == "python" or "." in place.symbol.name:
        return False
    own = [symbol for symbol in reading.symbols if symbol.short == name]
    if path == place.path:
        return len({symbol.name for symbol in own}) == 1
    imported = any(there == name for module in reading.imports for there, _ in module.names)
    return imported and not own and place.path in code.imports(path)


def find_enclosing_name(symbols: tuple[Symbol, ...], line: int) -> str:
    """Return the name of the innermost symbol around a line."""
    around = [symbol for symbol in symbols if symbol.line <= line <= symbol.end and symbol.kind not in ("constant",)]
    return max(around, key=lambda symbol: (symbol.line, -symbol.end)).name if around else ""


def find_callees_by_name(code: CodeIndex, place: SymbolPlace) -> SymbolUses:
    """Return the functions and classes of this tree that a symbol calls, by name: of its own file, of files that it imports, and
    of its package. A name that many definitions have is left out."""
    reading, symbol = code.reading(place.path), place.symbol
    text = code.text(place.path)
    lines, blanked = text.splitlines(), blank_texts(text, reading.language).splitlines()
    uses: dict[tuple[str, str], SymbolUse] = {}
    for number in range(symbol.line, min(symbol.end, len(blanked)) + 1):
        for match in CALL.finditer(blanked[number - 1]):
            for target in _list_called_definitions(code, place, match["name"], bool(match["before"])):
                sure = not match["before"] and _binds_name(code, target, place.path)
                use = SymbolUse(
                    place.path, number, symbol.name, lines[number - 1].strip(), sure, UseKind.CALL, target
                )  # fmt: skip
                uses.setdefault((target.path, target.symbol.name), use)
    return SymbolUses(tuple(uses.values()))


def _list_called_definitions(code: CodeIndex, place: SymbolPlace, name: str, on_object: bool) -> list[SymbolPlace]:
    if KEYWORD.fullmatch(name):
        return []
    reading = code.reading(place.path)
    there = next((there for module in reading.imports for there, here in module.names if here == name), name)
    defined = [one for one in code.defining(there) if one.symbol.kind in FUNCTION_KINDS and one != place]
    on_object |= reading.language not in OBJECT_LANGUAGES  # a method may be called by its bare name
    near = [one for one in defined if one.path == place.path and (on_object or "." not in one.symbol.name)]
    if near and there == name:
        return near if len(near) <= MAX_NAMED_CANDIDATES else []
    visible = _list_visible_files(code, place.path)
    far = [one for one in defined if one.path in visible and (on_object or "." not in one.symbol.name)]
    return far if len(far) <= MAX_NAMED_CANDIDATES else []


def _list_visible_files(code: CodeIndex, path: str) -> set[str]:
    """Return the files whose names a file can use: what it imports, what that hands on, and its package."""
    seen, layer = set[str](), {path}
    for depth in range(MAX_REEXPORTS):
        used = {target for one in layer for target in code.imports(one)} - seen
        seen |= used
        layer = {one for one in used if REEXPORT.search(code.text(one))} if depth < MAX_REEXPORTS - 1 else set()
    language = code.reading(path).language
    folder = path.rpartition("/")[0]
    beside = code.files if language in PACKAGE_LANGUAGES else ()
    return seen | {one for one in beside if one.rpartition("/")[0] == folder and code.reading(one).language == language}
