"""Of a definition that has no room as a whole the lines that matter now."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.domain.text import numbered
from afresh.engine.cut import cut
from afresh.engine.draft import Piece
from afresh.engine.parts import by_need, told
from afresh.engine.tokens import Counter

SOURCE = ["def price(order):", *[f"    step_{number} = order.take({number}, 'something or other')" for number in range(30)]]
SOURCE[20] = "    discount = order.discount_for(country)"
TEXT = "\n".join(["shop.py:1-31 price, named in the task", *[numbered(at, line) for at, line in enumerate(SOURCE, 1)]])


def piece(spoken: str) -> Piece:
    return Piece(TEXT, "target", first=by_need(TEXT, spoken))


def test_the_beginning_and_what_the_work_speaks_of_stay_and_gaps_tell_their_lines():
    part = cut(piece("the discount is wrong"), 200, Counter())
    assert part and Counter()(part.text) <= 200
    lines = part.text.splitlines()
    assert lines[:2] == TEXT.splitlines()[:2] and "   21     discount = order.discount_for(country)" in lines
    assert any(line.startswith("     … ") for line in lines)


def test_too_little_room_shows_nothing():
    assert cut(piece("discount"), 20, Counter()) is None


@given(st.sets(st.integers(0, 31)))
def test_every_line_is_shown_or_in_a_gap_and_in_order(chosen):
    shown, lines = list(told(TEXT.split("\n"), chosen)), TEXT.split("\n")
    assert [line for line in lines if line in shown] == [line for line in shown if line in lines]
    seen: set[int] = set()
    for line in shown:
        if line.startswith("     … "):
            first, last = map(int, line.split()[1].split("-"))
            seen |= set(range(first, last + 1))
        elif line[1:5].strip().isdigit():
            seen.add(int(line[1:5]))
    assert seen == set(range(1, 32))
