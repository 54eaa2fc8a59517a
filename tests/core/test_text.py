import json
import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from afresh.core.text import escape_hidden, to_visible_json
from afresh.core.truncate import to_one_line

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
def test_visible_json_loses_nothing_and_hides_nothing(value: object) -> None:
    text = to_visible_json(value)
    assert json.loads(text) == value and escape_hidden(text) == text


@given(st.text(), st.integers(2, 40))
def test_one_line_is_one_short_line(text: str, limit: int) -> None:
    line = to_one_line(text, limit)
    assert len(line) <= limit and len(line.splitlines()) <= 1 and "\t" not in line
