"""Message classes: small talk goes, work is told in a line, what decides stands as it is."""

import pytest

from afresh.core.step_history import PassageVoice
from afresh.memory.passage_retention import PassageTreatment, classify_passage, find_deciding_sentence, find_said_decisions


@pytest.mark.parametrize(
    "text",
    [
        "Great, now let me look at the tests.",
        "Perfect! Let me continue.",
        "Okay.",
        "",
        "Now I'll run it again.",
        "Done. Moving on.",
    ],
)
def test_status_is_dropped(text):
    assert classify_passage(PassageVoice.THOUGHT, text) is PassageTreatment.DROP


@pytest.mark.parametrize(
    "text",
    ["Let me look at parse_header.", "The test fails on empty input.", "Great, now let me see. " * 20],
    ids=["names something", "says something", "is long"],
)
def test_what_says_something_is_summarised(text):
    assert classify_passage(PassageVoice.THOUGHT, text) is PassageTreatment.SUMMARISE


def test_output_and_actions_are_work_whatever_they_say():
    assert {classify_passage(voice, "Okay.") for voice in (PassageVoice.ACTION, PassageVoice.OUTPUT)} == {
        PassageTreatment.SUMMARISE
    }


def test_the_last_sentence_that_decides_is_kept_and_nothing_else():
    text = "I looked at both. We use tabs because the file does. Let me go on."
    assert classify_passage(PassageVoice.THOUGHT, text) is PassageTreatment.VERBATIM
    assert find_deciding_sentence(text) == "We use tabs because the file does."


@pytest.mark.parametrize(
    "sentence",
    [
        "I decide to keep half because zebra_marker_one must not change.",
        "So we settled on tabs for the whole file.",
        "Therefore, I've decided against a new class.",
        "Decision: the parser stays as it is.",
        "We agreed that `load` raises and never returns None.",
    ],
)
def test_a_sentence_that_states_a_decision_is_found_word_for_word(sentence):
    assert find_said_decisions(f"I looked at both of them. {sentence} Let me go on.") == [sentence]


@pytest.mark.parametrize(
    "text",
    [
        "Should I decide to keep half?",
        "Before I decide to change it, let me look.",
        "If we chose tabs, the file would change.",
        "It is decided by the caller, because parse() is lazy.",
        "I decide to what end?",
        "The decision tree has four leaves.",
    ],
)
def test_what_only_speaks_of_a_decision_is_none(text):
    assert find_said_decisions(text) == []


def test_a_thought_decides_at_most_twice():
    assert len(find_said_decisions("I decide to go. " * 9)) == 2
