"""What a name stands for and who uses it: for whoever searches for it."""

import re
from collections.abc import Iterator

from afresh.domain.calls import SymbolUse, UseKind
from afresh.domain.code import SymbolPlace
from afresh.domain.sought import SearchHit
from afresh.domain.text import to_one_line
from afresh.insight import calls
from afresh.insight.code import CodeIndex

SEARCHABLE_NAME = re.compile(r"(?:def |class |async def )?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(\)?)?")
MAX_DEFINITIONS = 8
MAX_FOLLOWED_DEFINITIONS = 3
MAX_SEARCHED_FILES = 60
MAX_USES = 40
MAX_LINE_CHARACTERS = 140
"""Definitions that are told of, and whose users are looked for; files that are looked into, users in all; letters of a line."""


def find_definitions_and_uses(code: CodeIndex, text: str) -> list[SearchHit]:
    """Definitions first, those outside tests before others; then their users. Nothing for what names no definition here."""
    match = SEARCHABLE_NAME.fullmatch(text.strip())
    places = sorted(code.defining(match[1]) if match else (), key=lambda place: (code.is_test(place.path), place.path))
    defined = [
        SearchHit(one.path, one.symbol.line, to_one_line(one.symbol.signature, MAX_LINE_CHARACTERS), True)
        for one in places[:MAX_DEFINITIONS]
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
    where = f"  (in {use.within}{'' if use.sure else ', by name'})" if use.within or not use.sure else ""
    return f"{to_one_line(use.text, MAX_LINE_CHARACTERS)}{where}"
