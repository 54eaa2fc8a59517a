"""What was learnt is shown where it fits, and nowhere else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afresh.domain.fit import GENERAL, fit, likeness, subject, terms
from afresh.domain.words import compounds, stem

LEXER = subject("parse_header fails on folded lines\nlexer email", "changed email/lexer.py: unfold_line")

WHOLE = sorted(word for word in GENERAL if stem(word) == word)
ALL_GENERAL = subject(" ".join(WHOLE), "")


@pytest.mark.parametrize(
    "goal",
    [
        "parse_header raises for a folded line",
        "parseHeader drops the second folded line of a header",
        "Headers of an email that are folded are parsed wrongly",
        "the lexer fails on emails",
    ],
)
def test_a_task_about_the_same_thing_fits(goal: str) -> None:
    assert fit(terms(goal), LEXER) > 0


@pytest.mark.parametrize(
    "goal",
    [
        "Add a test for the new option and fix the error",
        "The server must close idle connections after ten minutes",
        "Make the report show totals for every month, and write the file once",
        "fix the failing tests",
        "",
    ],
)
def test_an_unrelated_task_fits_nothing(goal: str) -> None:
    assert fit(terms(goal), LEXER) == 0


@settings(max_examples=30)
@given(st.lists(st.sampled_from(WHOLE), max_size=30))
def test_general_words_alone_never_fit(words: list[str]) -> None:
    assert fit(terms(" ".join(words)), ALL_GENERAL) == 0


@given(st.lists(st.text("abcdefghij", min_size=3, max_size=8), min_size=1, max_size=8).map(" ".join))
def test_the_same_words_fit_and_are_alike(text: str) -> None:
    assert likeness(text, text) == 1
    asked = terms(text)
    assert (fit(asked, subject(text, "")) > 0) == any(weight > 0.2 for weight in asked.weights.values())


def test_words_that_most_objects_have_tell_nothing() -> None:
    about = subject("afresh window", "", ("afresh", "window"))
    assert (
        fit(terms("afresh window", ("afresh", "window")), about) == 0 < fit(terms("afresh window"), subject("afresh window", ""))
    )


def test_an_identifier_counts_as_a_whole_however_it_is_written() -> None:
    assert compounds("see parseHTTPHeader in net/http_client.py") == {"parsehttpheader", "httpclient", "httpclientpy"}
    assert len({stem(word) for word in ("parses", "parsed", "parsing", "parse")}) == 1
