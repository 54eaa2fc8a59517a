"""Of a definition that has no room as a whole the lines that matter now."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.context.section import SectionPiece
from afresh.context.truncate_piece import MAX_UNMARKED_GAP_CHARACTERS, mark_gaps, rank_lines_by_need, truncate_piece
from afresh.core.context_item import LineGap, ShownLine, SourceLine, render_lines
from afresh.core.tokens import EstimatingCounter

SOURCE = ["def price(order):", *[f"    step_{number} = order.take({number}, 'something or other')" for number in range(30)]]
SOURCE[20] = "    discount = order.discount_for(country)"
LINES: list[ShownLine] = ["shop.py:1-31 price, named in the task", *[SourceLine(at, line) for at, line in enumerate(SOURCE, 1)]]
TEXT = render_lines(LINES)


def piece(spoken: str) -> SectionPiece:
    return SectionPiece(TEXT, "target", first=rank_lines_by_need(TEXT, spoken), lines=tuple(LINES))


def test_the_beginning_and_what_the_work_speaks_of_stay_and_gaps_tell_their_lines():
    part = truncate_piece(piece("the discount is wrong"), 200, EstimatingCounter())
    assert part and EstimatingCounter()(part.text) <= 200
    lines = part.text.splitlines()
    assert lines[:2] == TEXT.splitlines()[:2] and "   21     discount = order.discount_for(country)" in lines
    assert any(line.startswith("     … ") for line in lines)


def test_of_a_definition_its_body_stays_before_its_docstring():
    said = [
        '    """Price of the discount.',
        *["    The discount is a discount of the country's discount." for _ in range(20)],
        '    """',
    ]
    text = "\n".join(["shop.py:1-60 price", SOURCE[0], *said, *SOURCE[1:]])
    first = rank_lines_by_need(text, "the discount is wrong")
    lines = text.split("\n")
    assert lines[first[0]] == "shop.py:1-60 price" and lines[first[1]] == SOURCE[0]
    assert all("The discount is" not in lines[at] for at in first[:6])
    assert any("discount_for" in lines[at] for at in first[:6])


def test_too_little_room_shows_nothing():
    assert truncate_piece(piece("discount"), 20, EstimatingCounter()) is None


@given(st.sets(st.integers(0, 31)))
def test_every_line_is_shown_or_in_a_gap_and_in_order(chosen):
    shown = list(mark_gaps(LINES, chosen, MAX_UNMARKED_GAP_CHARACTERS))
    assert [line for line in LINES if line in shown] == [line for line in shown if line in LINES]
    seen: set[int] = set()
    for line in shown:
        if isinstance(line, LineGap):
            seen |= set(range(line.number, line.last + 1))
        elif isinstance(line, SourceLine):
            seen.add(line.number)
    assert seen == set(range(1, 32))


@given(st.integers(0, 3), st.integers(1, 400), st.integers(60, 400))
def test_what_is_cut_by_characters_keeps_the_numbers_of_whole_lines_only(many, width, room):
    body = [SourceLine(number, "x" * width) for number in range(1, many + 2)]
    part = truncate_piece(SectionPiece("", "file", group="a.py").with_lines(body), room, EstimatingCounter())
    if part:
        assert part.text == render_lines(part.lines)
        assert all(line in body for line in part.lines if not isinstance(line, str))
