"""An answer is read as an option only where it can mean no other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.domain.option import Option, is_choice, listed, offered, readings

WAYS = ("multiply: works for every number", "shift: whole numbers only", "ask later")


def test_an_option_says_what_it_means_after_a_colon() -> None:
    assert offered(WAYS)[:2] == (Option(1, "multiply", "works for every number"), Option(2, "shift", "whole numbers only"))
    assert offered(WAYS)[2] == Option(3, "ask later")
    assert offered(["std::vector"])[0].name == "std::vector"


@pytest.mark.parametrize("text", ["1. keep: as it is", "(a) keep: as it is", "B) keep: as it is", " 12) keep: as it is"])
def test_a_label_that_the_model_has_put_before_an_option_is_left_off(text: str) -> None:
    assert offered([text])[0] == Option(1, "keep", "as it is")


@pytest.mark.parametrize(
    ("answer", "meant"),
    [("2", (2,)), (" 2. ", (2,)), ("(b)", (2,)), ("B", (2,)), ("shift", (2,)), ("Ask later", (3,)), ("m", (1,)),
     ("shift: whole numbers only", (2,)), ("4", ()), ("0", ()), ("z", ()), ("shift, but for floats too", ()), ("", ())],
)  # fmt: skip
def test_numbers_letters_and_names_are_understood(answer: str, meant: tuple[int, ...]) -> None:
    assert readings(answer, WAYS) == meant


def test_what_can_mean_two_options_is_seen_to() -> None:
    assert readings("a", ("build: now", "abort: not at all")) == (1, 2)
    assert readings("2", ("2", "10")) == (1, 2)
    assert readings("y", ("yes", "no")) == (1,)


@pytest.mark.parametrize(
    ("answer", "choice"), [("2", True), ("b)", True), ("(3).", False), ("10", True), ("no", False), ("", False)]
)
def test_a_bare_number_or_letter_is_a_choice(answer: str, choice: bool) -> None:
    assert is_choice(answer) is choice


def test_options_are_listed_with_their_meanings_or_without() -> None:
    assert listed(WAYS[:2]) == "1 multiply: works for every number; 2 shift: whole numbers only"
    assert listed(WAYS, meanings=False) == "1 multiply; 2 shift; 3 ask later"


@given(st.lists(st.text(max_size=30), max_size=6), st.text(max_size=5))
def test_any_option_has_its_number_and_any_answer_is_read(options: list[str], answer: str) -> None:
    assert [one.number for one in offered(options)] == [*range(1, len(options) + 1)]
    assert set(readings(answer, options)) <= {*range(1, len(options) + 1)}
    for number in range(1, len(options) + 1):
        assert number in readings(str(number), options)
