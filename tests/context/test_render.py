"""Files in a window: no line twice, neighbouring gaps in one line, and lines wanted for themselves apart from the rest."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from afresh.context.render import render_section
from afresh.context.section import SectionDraft, SectionPiece
from afresh.context.wanted_lines import split_at_wanted_lines, widen_changed_lines
from afresh.core.context_item import LineGap, ShownLine, SourceLine
from afresh.core.prompt import Tier


def shown(*parts: Sequence[ShownLine], group: str = "a.py") -> list[str]:
    pieces = tuple(SectionPiece("", "lines", group=group).with_lines(part) for part in parts)
    return render_section(SectionDraft("files", "Files", Tier.DEMAND, pieces), pieces).splitlines()[1:]


def test_what_leads_to_a_piece_is_left_off_where_it_stands_above_already():
    head = SourceLine(1, "class A:")
    assert shown([head, SourceLine(2, "    x = 1")], [head, SourceLine(3, "    y = 2", changed=True)]) == [
        "a.py", "    1 class A:", "    2     x = 1", "+   3     y = 2",
    ]  # fmt: skip


def test_lines_without_numbers_may_stand_twice():
    assert shown(["pass", "pass"]) == ["a.py", "pass", "pass"]


def test_neighbouring_gaps_are_one_line_with_the_names_of_all():
    gaps = LineGap(1, 9, ("one", "two")), LineGap(10, 12), LineGap(13, 20, ("three",)), LineGap(30, 31, ("four",))
    assert shown([gaps[0]], [gaps[1]], [gaps[2]], [SourceLine(21, "x")], [gaps[3]]) == [
        "a.py", "     … 1-20 one, two, three", "   21 x", "     … 30-31 four",
    ]  # fmt: skip


def test_gaps_that_are_no_neighbours_stay_apart_and_too_many_names_are_cut():
    many = LineGap(12, 20, tuple(f"f{number}" for number in range(9)))
    assert shown([LineGap(1, 9)], [many]) == ["a.py", "     … 1-9", "     … 12-20 f0, f1, f2, f3, f4, f5, …"]


def test_that_there_are_more_names_is_said_once_and_last():
    assert shown([LineGap(1, 9, ("f", "…"))], [LineGap(10, 12, ("g",))]) == ["a.py", "     … 1-12 f, g, …"]


def test_lines_stand_in_order_and_no_gap_names_one_that_is_shown():
    """What leads to a later piece may be inside of lines that an earlier one leaves out."""
    head, test, body = SourceLine(10, "class Tests:"), SourceLine(25, "    def test(self):"), SourceLine(30, "        pass")
    assert shown([LineGap(10, 19, ("Tests", "one"))], [LineGap(20, 28, ("two",))], [head, test, body]) == [
        "a.py",
        "   10 class Tests:",
        "     … 11-24 Tests, one, two",
        "   25     def test(self):",
        "     … 26-28",
        "   30         pass",
    ]


def test_sections_without_files_are_left_as_they_are():
    assert shown([LineGap(1, 2)], [LineGap(3, 4)], group="") == ["     … 1-2", "     … 3-4"]


def test_lines_that_were_asked_for_are_a_part_of_their_own():
    assert split_at_wanted_lines((1, 60), [(20, 39)]) == [(1, 19), (20, 39), (40, 60)]
    assert split_at_wanted_lines((1, 60), [(3, 58)]) == [(1, 60)], "a definition is not taken apart for a few lines"
    assert split_at_wanted_lines((1, 60), [(70, 90)]) == [(1, 60)]


@given(st.integers(1, 99), st.integers(0, 99), st.lists(st.tuples(st.integers(1, 200), st.integers(0, 60)), max_size=5))
def test_parts_cover_the_definition_once_and_in_order(start, length, wanted):
    parts = split_at_wanted_lines((start, start + length), [(first, first + more) for first, more in wanted])
    assert [line for first, last in parts for line in range(first, last + 1)] == list(range(start, start + length + 1))


def test_changed_lines_go_with_a_few_beside_them_and_near_ones_together():
    assert widen_changed_lines(frozenset({10, 12, 40})) == [(7, 15), (37, 43)]
