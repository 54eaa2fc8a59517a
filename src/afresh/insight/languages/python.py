"""What a Python file says of itself."""

import re
from collections import Counter

from afresh.domain.code import Reading
from afresh.insight.languages import python_exact as exact
from afresh.insight.languages.python_imports import modules, targets
from afresh.insight.languages.python_mask import SAID, Unusual, masked
from afresh.insight.languages.python_scan import Scan, statements
from afresh.insight.source import syntax

__all__ = ["modules", "read", "taken", "targets"]

MAIN = re.compile(r"^if +__name__ *== *['\"]__main__['\"]", re.MULTILINE)


def read(path: str, text: str) -> Reading:
    return taken(path, text)[0]


def taken(path: str, text: str) -> tuple[Reading, Counter[str]]:
    """The reading, and all identifiers and words of the text with how often they are said."""
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    try:
        code = masked(text)
    except Unusual:
        return _parsed(text, lines, None), Counter(SAID.findall(text))
    identifiers = code.identifiers()
    said = code.prose()
    mentions = tuple(sorted(identifiers))
    for name, count in identifiers.items():
        said[name] += count
    try:
        found = Scan(statements(text, code)).run()
    except Unusual:
        return _parsed(text, lines, mentions), said
    return Reading("python", lines, tuple(found.symbols), tuple(found.imports), mentions, found.doc, found.entry), said


def _parsed(text: str, lines: int, mentions: tuple[str, ...] | None) -> Reading:
    tree = syntax(text)
    if tree is None:
        return Reading("python", lines, mentions=mentions or (), fault="does not parse")
    written = text.split("\n")
    return Reading(
        "python",
        lines,
        tuple(exact.symbols(tree.body, written)),
        tuple(exact.imports(tree)),
        mentions if mentions is not None else tuple(sorted(set(exact.mentions(tree)))),
        exact.doc(tree),
        'if __name__ == "__main__"' if MAIN.search(text) else "",
    )
