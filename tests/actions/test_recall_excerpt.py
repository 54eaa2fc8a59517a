"""Parts of a text: within the bound, made of its own lines, the same every time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.actions.recall_excerpt import (
    select_line_range,
    select_lines_about,
    select_outline,
    terms_from_question,
)
from afresh.core.tokens import estimate_tokens

SHAPES = st.sampled_from([
    "def parse_header(data):", "    return data", "class Reader:", "Traceback (most recent call last):",
    '  File "/a/store.py", line 3, in main', "    run()", "KeyError: 'fooBar'", "", "____ test_x ____", "E  assert 1 == 2",
    "src/a.py:3:1: E501 line too long", "x" * 900, "parse " * 200, "1 failed, 3 passed in 0.1s", "@@ -1,3 +1,4 @@",
    "naïve ✓ \u2028",
])  # fmt: skip
LINES = st.lists(st.one_of(SHAPES, st.text(max_size=40)), max_size=120)
TEXTS = LINES.map("\n".join)
QUESTIONS = st.one_of(st.sampled_from(["parseHeader", "KeyError fooBar", "why line too long", "x"]), st.text(max_size=30))
ROOMS = st.integers(1, 1_500)
SHOWN = re.compile(r" *(\d+) (.*)", re.DOTALL)


def check(excerpt, text, room):
    lines = text.splitlines()
    assert not excerpt.text or estimate_tokens(excerpt.text) <= room
    numbers = list[int]()
    for shown in excerpt.text.split("\n") if excerpt.text else []:
        if re.fullmatch(r"… lines? \d+(-\d+)?", shown):
            continue
        match = SHOWN.fullmatch(shown)
        assert match
        numbers.append(int(match[1]))
        told, line = match[2], lines[int(match[1]) - 1]
        assert told == line or (len(line) > 300 and told.strip("…") in line)
    assert tuple(numbers) == excerpt.numbers and numbers == sorted(set(numbers))
    assert excerpt.whole == (len(numbers) == len(lines))


@given(TEXTS, QUESTIONS, ROOMS)
def test_what_is_shown_fits_and_is_made_of_the_lines_of_the_text(text, question, room):
    for made in (
        lambda: select_lines_about(text, question, room, estimate_tokens),
        lambda: select_outline(text, room, estimate_tokens),
    ):
        check(made(), text, room)
        assert made() == made()


@given(TEXTS, st.integers(1, 130), st.integers(0, 60), ROOMS)
def test_lines_that_are_asked_for_come_in_one_piece(text, first, more, room):
    part = select_line_range(text, first, first + more, room, estimate_tokens)
    check(part, text, room)
    assert list(part.numbers) == list(range(first, first + len(part.numbers)))


@given(TEXTS)
def test_a_text_that_fits_is_shown_whole(text):
    part = select_outline(text, 10**9, estimate_tokens)
    assert part.whole and "… line" not in re.sub(r"(?m)^ *\d+ .*$", "", part.text)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("parseHeader", {"parseheader", "parse", "header"}),
        ("the HTTPServer_error2", {"httpserver_error2", "http", "server", "error"}),
        ("src/a_b.py", {"src/a_b.py", "src"}), ("why was it", set()),
    ],
)  # fmt: skip
def test_identifiers_are_looked_for_whole_and_in_their_words(question, words):
    assert set(terms_from_question(question)) == words


def test_the_rare_word_decides_not_the_common_one():
    text = "\n\n".join(
        [*(f"error number {n}" for n in range(40)), "error of the gasket", *(f"error number {n}" for n in range(40))]
    )
    assert 81 in select_lines_about(text, "gasket error", 40, estimate_tokens).numbers
