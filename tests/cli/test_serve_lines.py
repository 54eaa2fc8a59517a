"""What `afresh serve` prints: one line an event in a log, wrapped below its text on a terminal."""

import json

from hypothesis import given
from hypothesis import strategies as st

from afresh.cli.serve import format_json_line, format_log_line

EVENT = "double-is-wrong-in-calc-py-4a3728ba: 2 ✓ edited calc.py → kept, 1 passed (affected tests)"


def test_a_line_of_a_log_has_the_date_and_is_whole():
    line = format_log_line("workers", EVENT)
    assert line.endswith(f" workers   {EVENT}") and "\n" not in line and line[4] == "-"


def test_on_a_terminal_long_lines_continue_below_their_text():
    first, second = format_log_line("workers", EVENT, 80).splitlines()
    assert len(first) <= 80 and first[8:19] == " workers   " and first[19:].startswith("double-is-wrong")
    assert second.startswith(" " * 19) and second.strip() == "kept, 1 passed (affected tests)"


@given(st.text(st.characters(categories=["L", "N"]) | st.just(" ")), st.integers(1, 200))
def test_no_word_is_lost_or_broken_at_any_width(text: str, width: int):
    assert format_log_line("service", text, width)[18:].split() == text.split()


def test_a_line_of_json_is_an_object_with_three_keys():
    assert json.loads(format_json_line("service", 'a "b"')).keys() == {"at", "source", "text"}
