"""Names and lines of a repository are foreign text: nothing in them steers a terminal, and every line fits."""

import pytest
from samples import HOSTILE, rendered

from afresh.app.code.explore_code import SymbolUsers
from afresh.cli.render.symbols import (
    MAX_SECTION_LINES,
    build_entry_points,
    build_symbol_choice,
    build_symbol_hits,
    build_symbol_users,
)
from afresh.code.search_hit import EntryPoint, MatchQuality, SymbolMatches, SymbolUse, SymbolUses, UseKind
from afresh.core.symbol import Symbol, SymbolKind, SymbolPlace

PLACE = SymbolPlace(
    f"src/{HOSTILE}.py", Symbol(f"A.{HOSTILE}", SymbolKind.METHOD, 3, 9, f"def {HOSTILE}(self, x: int)", HOSTILE * 9)
)


def call(number: int, sure: bool = True, kind: UseKind = UseKind.CALL, path: str = "a.py") -> SymbolUse:
    return SymbolUse(
        path, number, HOSTILE if number % 2 else "", f"{HOSTILE} = f({number})" + " " * 90 + "end", sure, kind, PLACE
    )


CALLS = SymbolUses(
    (*(call(n) for n in range(MAX_SECTION_LINES + 5)), call(1, path="t.py"), call(2, sure=False), call(3, kind=UseKind.IMPORT)),
    7,
    True,
)
USED = SymbolUsers(PLACE, CALLS, frozenset({"t.py"}), [PLACE], [PLACE] * 20, [PLACE])
VIEWS = [
    build_symbol_hits(SymbolMatches((PLACE, PLACE), MatchQuality.NEAR, 3), HOSTILE),
    build_symbol_choice(SymbolMatches((PLACE, PLACE), MatchQuality.EXACT, 3), HOSTILE),
    build_symbol_choice(SymbolMatches((PLACE,), MatchQuality.PART), HOSTILE),
    build_entry_points([EntryPoint(PLACE.path, 3, HOSTILE, HOSTILE)]),
    build_symbol_users(USED),
    build_symbol_users(USED, everything=True),
]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_line_fits_and_nothing_is_hidden(view: object, width: int):
    text = rendered(view, width)
    assert "\x1b" not in text and "\u202e" not in text
    assert max(len(line) for line in text.splitlines()) <= width


def test_long_lists_are_cut_and_say_so():
    text = rendered(build_symbol_users(USED))
    assert "and 5 more lines in 1 file; use --all" in text
    assert "7 more files mention it and were not searched" in text
    assert "some matches are by name only" in text
    assert "more lines" not in rendered(build_symbol_users(USED, everything=True))
