"""What a name stands for and who uses it: for whoever searches for it."""

import re
from collections.abc import Iterator

from afresh.domain.calls import Call, Way
from afresh.domain.code import Place
from afresh.domain.sought import Sought
from afresh.domain.text import one_line
from afresh.insight import calls
from afresh.insight.code import Code

NAME = re.compile(r"(?:def |class |async def )?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(\)?)?")
DEFINITIONS = 8
FOLLOWED = 3
FILES = 60
USES = 40
WIDEST = 140
"""Definitions that are told of, and whose users are looked for; files that are looked into, users in all; letters of a line."""


def find(code: Code, text: str) -> list[Sought]:
    """Definitions first, those outside tests before others; then their users. Nothing for what names no definition here."""
    match = NAME.fullmatch(text.strip())
    places = sorted(code.defining(match[1]) if match else (), key=lambda place: (code.is_test(place.path), place.path))
    defined = [Sought(one.path, one.symbol.line, one_line(one.symbol.signature, WIDEST), True) for one in places[:DEFINITIONS]]
    return [*defined, *list(users(code, places[:FOLLOWED]))[:USES]]


def users(code: Code, places: list[Place]) -> Iterator[Sought]:
    seen: set[tuple[str, int]] = set()
    for place in places:
        for use in calls.callers(code, place, FILES):
            if (use.path, use.line) not in seen and use.kind is not Way.IMPORT:
                seen.add((use.path, use.line))
                yield Sought(use.path, use.line, told(use), False)


def told(use: Call) -> str:
    where = f"  (in {use.within}{'' if use.sure else ', by name'})" if use.within or not use.sure else ""
    return f"{one_line(use.text, WIDEST)}{where}"
