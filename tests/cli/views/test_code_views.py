"""Names and lines of a repository are foreign text: nothing in them steers a terminal, and every line fits."""

import pytest
from samples import HOSTILE, rendered

from afresh.app.symbols import Used
from afresh.app.watching import Flush
from afresh.cli.views.symbols import begins, choice, found
from afresh.cli.views.used import LINES, used
from afresh.cli.views.watching import told
from afresh.domain.calls import Call, Calls, Way
from afresh.domain.code import Kind, Place, Symbol
from afresh.domain.found import Entry, Found, Match

PLACE = Place(f"src/{HOSTILE}.py", Symbol(f"A.{HOSTILE}", Kind.METHOD, 3, 9, f"def {HOSTILE}(self, x: int)", HOSTILE * 9))


def call(number: int, sure: bool = True, kind: Way = Way.CALL, path: str = "a.py") -> Call:
    return Call(path, number, HOSTILE if number % 2 else "", f"{HOSTILE} = f({number})" + " " * 90 + "end", sure, kind, PLACE)


CALLS = Calls(
    (*(call(n) for n in range(LINES + 5)), call(1, path="t.py"), call(2, sure=False), call(3, kind=Way.IMPORT)), 7, True
)
USED = Used(PLACE, CALLS, frozenset({"t.py"}), [PLACE], [PLACE] * 20, [PLACE])
VIEWS = [
    found(Found((PLACE, PLACE), Match.NEAR, 3), HOSTILE),
    choice(Found((PLACE, PLACE), Match.EXACT, 3), HOSTILE),
    choice(Found((PLACE,), Match.PART), HOSTILE),
    begins([Entry(PLACE.path, 3, HOSTILE, HOSTILE)]),
    used(USED),
    used(USED, everything=True),
]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_line_fits_and_nothing_is_hidden(view: object, width: int):
    text = rendered(view, width)
    assert "\x1b" not in text and "\u202e" not in text
    assert max(len(line) for line in text.splitlines()) <= width


def test_long_lists_are_cut_and_say_so():
    text = rendered(used(USED))
    assert "and 5 more lines in 1 file; --all shows them" in text
    assert "7 more files speak of it and were not read" in text
    assert "some were decided by name" in text
    assert "more lines" not in rendered(used(USED, everything=True))


def test_a_change_is_one_line():
    line = told(Flush((PLACE.path, "b.py"), ("c.py",), 0.0123, 3))
    assert "\x1b" not in line and line.endswith("b.py read, c.py gone  12 ms")
    many = tuple(f"m{n}.py" for n in range(1_200))
    assert "1,200 files read (m0.py, m1.py, m2.py, …)  2.5 s" in told(Flush(many, (), 2.5, 3))
