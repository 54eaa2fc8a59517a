"""Sentences that imply changes of existing tests, and sentences about tests that do not."""

import pytest

from afresh.core.licences.hints_about_tests import find_protection, find_test_hints
from afresh.core.licences.licence_for_tests import WeakeningWay


@pytest.mark.parametrize(
    "text",
    [
        "Three of its tests want a result from input over the limit, so these have to be turned round.",
        "You'll see that lots of the current expectations in the tests come from rounding down.",
        "The expected output in the suite changes with that, of course.",
        "They should say the opposite now. We added tests which demand the error; they should say the opposite now.",
        "We even have the wrong value enshrined in the parametrised tables.",
        "Our own tests bake in the bug.",
        "A handful of assertions will need to flip.",
        "Add tests, and adapt those that expect the old name.",
        "Add the option, and update tests that expect the old name.",
        "Add a default; tests that count arguments change.",
        "Reference values in the regression data set shall be reproduced with the new default.",
    ],
)
def test_words_that_call_tests_outdated_are_hints(text: str) -> None:
    assert list(find_test_hints(text))


@pytest.mark.parametrize(
    "text",
    [
        "Please add tests for both cases.",
        "test_price fails since Tuesday, fix the rounding.",
        "All existing tests must pass.",
        "Do not change the tests.",
        "The tests in tests/test_price.py check this for EUR only.",
        "See tests/test_rollback.py for how we exercise the flag.",
        "Great library, great tests.",
        "Expected 3 but got 4.",
        "Users have to update their tests.",
        "Rename `a` to `b` everywhere in code and docs, and add tests.",
        "Remove the deprecated `foo` and its alias, and add some tests",
        "The project keeps a release note for each change in releasenotes/notes; add one, and tests.",
        "Change the default, add a line to the changelog and tests for both.",
    ],
)
def test_words_that_mention_protect_or_want_tests_are_none(text: str) -> None:
    assert not list(find_test_hints(text))


def test_only_words_that_let_a_test_go_allow_removing_it() -> None:
    [stays] = find_test_hints("The suite still expects the old message.")
    [goes] = find_test_hints("What covers the removed option in the tests can go.")
    assert WeakeningWay.REMOVE not in stays.ways and WeakeningWay.REMOVE in goes.ways


def test_a_sentence_that_protects_tests_is_found() -> None:
    assert find_protection("Round up. Leave the tests as they are.") == "Leave the tests as they are."
    assert not find_protection("Round up. The tests expect the old value.")
