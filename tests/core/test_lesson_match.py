"""What was learnt is shown where it fits, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.lesson_match import GENERAL_WORDS, compute_likeness, score_match, subject_from_text, weigh_terms
from afresh.core.search_words import find_compounds, stem_word

LEXER = subject_from_text("parse_header fails on folded lines\nlexer email", "changed email/lexer.py: unfold_line")

WHOLE = sorted(word for word in GENERAL_WORDS if stem_word(word) == word)
ALL_GENERAL = subject_from_text(" ".join(WHOLE), "")


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
    assert score_match(weigh_terms(goal), LEXER) > 0


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
    assert score_match(weigh_terms(goal), LEXER) == 0


@given(st.lists(st.sampled_from(WHOLE), max_size=30))
def test_general_words_alone_never_fit(words: list[str]) -> None:
    assert score_match(weigh_terms(" ".join(words)), ALL_GENERAL) == 0


@given(st.lists(st.text("abcdefghij", min_size=3, max_size=8), min_size=1, max_size=8).map(" ".join))
def test_the_same_words_fit_and_are_alike(text: str) -> None:
    assert compute_likeness(text, text) == 1
    asked = weigh_terms(text)
    assert (score_match(asked, subject_from_text(text, "")) > 0) == any(weight > 0.2 for weight in asked.weights.values())


def test_words_that_most_objects_have_tell_nothing() -> None:
    about = subject_from_text("afresh window", "", ("afresh", "window"))
    assert (
        score_match(weigh_terms("afresh window", ("afresh", "window")), about)
        == 0
        < score_match(weigh_terms("afresh window"), subject_from_text("afresh window", ""))
    )


def test_an_identifier_counts_as_a_whole_however_it_is_written() -> None:
    assert find_compounds("see parseHTTPHeader in net/http_client.py") == {"parsehttpheader", "httpclient", "httpclientpy"}
    assert len({stem_word(word) for word in ("parses", "parsed", "parsing", "parse")}) == 1
