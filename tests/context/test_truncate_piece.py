"""Of a definition that has no room as a whole the lines that matter now."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.context.section import SectionPiece
from afresh.context.truncate_piece import mark_gaps, rank_lines_by_need, truncate_piece
from afresh.core.text import number_line
from afresh.core.tokens import EstimatingCounter

SOURCE = ["def price(order):", *[f"    step_{number} = order.take({number}, 'something or other')" for number in range(30)]]
SOURCE[20] = "    discount = order.discount_for(country)"
TEXT = "\n".join(["shop.py:1-31 price, named in the task", *[number_line(at, line) for at, line in enumerate(SOURCE, 1)]])


def piece(spoken: str) -> SectionPiece:
    return SectionPiece(TEXT, "target", first=rank_lines_by_need(TEXT, spoken))


def test_the_beginning_and_what_the_work_speaks_of_stay_and_gaps_tell_their_lines():
    part = truncate_piece(piece("the discount is wrong"), 200, EstimatingCounter())
    assert part and EstimatingCounter()(part.text) <= 200
    lines = part.text.splitlines()
    assert lines[:2] == TEXT.splitlines()[:2] and "   21     discount = order.discount_for(country)" in lines
    assert any(line.startswith("     … ") for line in lines)


def test_too_little_room_shows_nothing():
    assert truncate_piece(piece("discount"), 20, EstimatingCounter()) is None


@given(st.sets(st.integers(0, 31)))
def test_every_line_is_shown_or_in_a_gap_and_in_order(chosen):
    shown, lines = list(mark_gaps(TEXT.split("\n"), chosen)), TEXT.split("\n")
    assert [line for line in lines if line in shown] == [line for line in shown if line in lines]
    seen: set[int] = set()
    for line in shown:
        if line.startswith("     … "):
            first, last = map(int, line.split()[1].split("-"))
            seen |= set(range(first, last + 1))
        elif line[1:5].strip().isdigit():
            seen.add(int(line[1:5]))
    assert seen == set(range(1, 32))
