"""Lines fit the console, and a word is broken only if it is longer than a line."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from samples import COMMITS, rendered, told

from afresh.cli.render.progress import STREAM_LINES, render_live_area, render_progress_line
from afresh.cli.render.widgets import count_columns, quote_text, wrap_line
from afresh.views.page import Fields
from afresh.views.progress import ProgressLine, RunProgress, update_run_progress

WORDS = st.lists(st.text("abcdefgh_/.:漢→", min_size=1, max_size=50), min_size=1, max_size=30)
WIDTHS = st.integers(24, 120)


def drawn(renderable: object, width: int) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=width, highlight=False).print(renderable)
    return stream.getvalue().splitlines()


def broken_words(words: list[str], rows: list[str], width: int) -> list[str]:
    whole = {word for row in rows for word in row.split()}
    return [word for word in words if count_columns(word) <= width and word not in whole]


@given(WORDS, WIDTHS)
def test_no_line_is_wider_than_the_console_and_no_word_is_broken_that_fits(words: list[str], width: int) -> None:
    text = " ".join(words)
    lines = ["".join(part for part, _ in row) for row in wrap_line(quote_text(text), width)]
    step = render_progress_line(ProgressLine("✓", "did it", 3, text, text), width).plain.splitlines()
    for rows, room in ((lines, width), (rendered([text], width).splitlines(), width), (step, width)):
        assert max(count_columns(row.rstrip()) for row in rows) <= room
    assert not broken_words(words, lines, width)
    assert not broken_words(words, rendered([text], width).splitlines(), width)
    assert not broken_words(words, rendered([Fields([("ab", text)])], width).splitlines(), width - 4)


@given(WORDS, WIDTHS)
def test_the_live_area_fits_and_stays_small(words: list[str], width: int) -> None:
    glance = RunProgress(0.0)
    for state, entries in told(COMMITS[:4]):
        glance, _ = update_run_progress(glance, state, entries)
    from dataclasses import replace

    glance = replace(glance, said=" ".join(words), doing=" ".join(words))
    rows = drawn(render_live_area(glance, 75.0, width), width)
    assert len(rows) <= STREAM_LINES + 3 and max(count_columns(row.rstrip()) for row in rows) <= width


@pytest.mark.parametrize(
    ("word", "rows"),
    [
        ("tests/test_pricing.py::test_old_options_still_work", ["tests/test_pricing.py::", "test_old_options_still_", "work"]),
        ("x" * 50, ["x" * 24, "x" * 24, "xx"]),
    ],
    ids=["id", "no parts"],
)
def test_a_word_longer_than_a_line_is_broken_where_a_part_of_it_ends(word: str, rows: list[str]) -> None:
    assert ["".join(part for part, _ in row) for row in wrap_line(quote_text(word), 24)] == rows
    assert rendered([word], 24).splitlines() == rows
