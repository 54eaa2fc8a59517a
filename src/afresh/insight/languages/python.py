"""What a Python file says of itself."""

import re
from collections import Counter

from afresh.domain.code import FileReading
from afresh.insight.languages import python_exact as exact
from afresh.insight.languages.python_imports import index_modules, resolve_import
from afresh.insight.languages.python_mask import PROSE_WORD, NeedsParser, mask_source
from afresh.insight.languages.python_scan import StatementScanner, split_statements
from afresh.insight.source import parse_syntax_tree

__all__ = ["index_modules", "read_source", "read_source_and_words", "resolve_import"]

MAIN_GUARD = re.compile(r"^if +__name__ *== *['\"]__main__['\"]", re.MULTILINE)


def read_source(path: str, text: str) -> FileReading:
    return read_source_and_words(path, text)[0]


def read_source_and_words(path: str, text: str) -> tuple[FileReading, Counter[str]]:
    """The reading, and all identifiers and words of the text with how often they are said."""
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    try:
        code = mask_source(text)
    except NeedsParser:
        return _read_with_ast(text, lines, None), Counter(PROSE_WORD.findall(text))
    identifiers = code.identifiers()
    said = code.prose()
    mentions = tuple(sorted(identifiers))
    for name, count in identifiers.items():
        said[name] += count
    try:
        found = StatementScanner(split_statements(text, code)).run()
    except NeedsParser:
        return _read_with_ast(text, lines, mentions), said
    return FileReading("python", lines, tuple(found.symbols), tuple(found.imports), mentions, found.doc, found.entry), said


def _read_with_ast(text: str, lines: int, mentions: tuple[str, ...] | None) -> FileReading:
    tree = parse_syntax_tree(text)
    if tree is None:
        return FileReading("python", lines, mentions=mentions or (), fault="does not parse")
    written = text.split("\n")
    return FileReading(
        "python",
        lines,
        tuple(exact.list_symbols(tree.body, written)),
        tuple(exact.list_imports(tree)),
        mentions if mentions is not None else tuple(sorted(set(exact.list_mentions(tree)))),
        exact.read_docstring_line(tree),
        'if __name__ == "__main__"' if MAIN_GUARD.search(text) else "",
    )
