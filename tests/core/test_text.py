import json
import sys
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from afresh.core.text import escape_hidden, read_foreign_json, to_visible_json
from afresh.core.truncate import find_longest_fitting, join_first, list_first, select_fitting, to_one_line, truncate_middle

SEEN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, 9, 10}
"""Arabic, Syriac and Kaithi signs that have a shape, tab and newline."""


def test_every_control_and_format_character_is_escaped() -> None:
    hidden = [code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    assert [hex(code) for code in hidden if code not in SEEN and escape_hidden(chr(code)) == chr(code)] == []


def test_escapes_bidi_tags_and_terminal_sequences_can_be_seen() -> None:
    assert escape_hidden("a\x1b[2J\u202eb\U000e0041") == "a\\x1b[2J\\u202eb\\U000e0041"


def test_ordinary_text_stays_as_it_is() -> None:
    text = "naïve 漢字 — ✓\n\tindented ❤️"
    assert escape_hidden(text) == text


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
@example("\x7f")
@example({"\x9b": ["\u2028\ud800\U000e0041"]})
def test_visible_json_loses_nothing_and_hides_nothing(value: object) -> None:
    for text in (to_visible_json(value), to_visible_json(value, indent=1), to_visible_json(value, sort_keys=True)):
        assert json.loads(text) == value and escape_hidden(text) == text


def test_halves_of_surrogate_pairs_are_replaced_wherever_foreign_json_has_them() -> None:
    foreign = '{"a\\ud800": ["\\udfff", "\\ud83d\\ude00", "\\\\ud800", 1]}'
    assert read_foreign_json(foreign) == {"a\ufffd": ["\ufffd", "\U0001f600", "\\ud800", 1]}


@given(st.text(), st.integers(2, 40))
def test_one_line_is_one_short_line(text: str, limit: int) -> None:
    line = to_one_line(text, limit)
    assert len(line) <= limit and len(line.splitlines()) <= 1 and "\t" not in line


def test_a_text_that_is_too_long_keeps_its_beginning_and_its_end_around_a_line_that_says_what_is_missing():
    text = "".join(map(str, range(10))) * 10
    assert truncate_middle(text, 30, lambda gone: f"[{gone} gone]") == f"{text[:20]}\n[70 gone]\n{text[-10:]}"
    assert truncate_middle(text, 100, str) == text


def test_of_many_names_the_first_are_said_and_a_mark_for_the_rest():
    assert join_first(["a", "b", "c"], 3) == "a, b, c"
    assert join_first(["a", "b", "c"], 2) == "a, b, …"
    assert list_first(["a", "b", "c"], 2) == ["a", "b", "… 1 more"] and list_first(["a"], 2) == ["a"]


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_the_longest_that_fits_is_found(low: int, high: int, room: int):
    fitting = [number for number in range(low, high + 1) if number <= room]
    assert find_longest_fitting(lambda number: number, low, high, lambda number: number <= room) == max(fitting, default=None)


def test_what_does_not_fit_is_passed_over():
    assert select_fitting(["aaa", "bbbbb", "cc"], len, 5) == ["aaa", "cc"]
