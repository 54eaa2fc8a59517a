"""An answer is read as an option only where it can mean no other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.answer_options import AnswerOption, is_bare_choice, match_options, parse_options, render_options

WAYS = ("multiply: works for every number", "shift: whole numbers only", "ask later")


def test_an_option_says_what_it_means_after_a_colon() -> None:
    assert parse_options(WAYS)[:2] == (
        AnswerOption(1, "multiply", "works for every number"),
        AnswerOption(2, "shift", "whole numbers only"),
    )
    assert parse_options(WAYS)[2] == AnswerOption(3, "ask later")
    assert parse_options(["std::vector"])[0].name == "std::vector"


@pytest.mark.parametrize("text", ["1. keep: as it is", "(a) keep: as it is", "B) keep: as it is", " 12) keep: as it is"])
def test_a_label_that_the_model_has_put_before_an_option_is_left_off(text: str) -> None:
    assert parse_options([text])[0] == AnswerOption(1, "keep", "as it is")


@pytest.mark.parametrize(
    ("answer", "meant"),
    [("2", (2,)), (" 2. ", (2,)), ("(b)", (2,)), ("B", (2,)), ("shift", (2,)), ("Ask later", (3,)), ("m", (1,)),
     ("shift: whole numbers only", (2,)), ("4", ()), ("0", ()), ("z", ()), ("shift, but for floats too", ()), ("", ())],
)  # fmt: skip
def test_numbers_letters_and_names_are_understood(answer: str, meant: tuple[int, ...]) -> None:
    assert match_options(answer, WAYS) == meant


def test_what_can_mean_two_options_is_seen_to() -> None:
    assert match_options("a", ("build: now", "abort: not at all")) == (1, 2)
    assert match_options("2", ("2", "10")) == (1, 2)
    assert match_options("y", ("yes", "no")) == (1,)


@pytest.mark.parametrize(
    ("answer", "choice"), [("2", True), ("b)", True), ("(3).", False), ("10", True), ("no", False), ("", False)]
)
def test_a_bare_number_or_letter_is_a_choice(answer: str, choice: bool) -> None:
    assert is_bare_choice(answer) is choice


def test_options_are_listed_with_their_meanings_or_without() -> None:
    assert render_options(WAYS[:2]) == "1 multiply: works for every number; 2 shift: whole numbers only"
    assert render_options(WAYS, meanings=False) == "1 multiply; 2 shift; 3 ask later"


@given(st.lists(st.text(max_size=30), max_size=6), st.text(max_size=5))
def test_any_option_has_its_number_and_any_answer_is_read(options: list[str], answer: str) -> None:
    assert [one.number for one in parse_options(options)] == [*range(1, len(options) + 1)]
    assert set(match_options(answer, options)) <= {*range(1, len(options) + 1)}
    for number in range(1, len(options) + 1):
        assert number in match_options(str(number), options)
