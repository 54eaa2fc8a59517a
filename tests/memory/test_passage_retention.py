"""Message classes: small talk goes, work is told in a line, what decides stands as it is."""

import pytest

from afresh.core.step_history import PassageVoice
from afresh.memory.passage_retention import PassageTreatment, classify_passage, find_deciding_sentence


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
    assert {classify_passage(voice, "Okay.") for voice in (PassageVoice.ACTION, PassageVoice.OUTPUT, PassageVoice.SKETCH)} == {
        PassageTreatment.SUMMARISE
    }


def test_the_last_sentence_that_decides_is_kept_and_nothing_else():
    text = "I looked at both. We use tabs because the file does. Let me go on."
    assert classify_passage(PassageVoice.THOUGHT, text) is PassageTreatment.VERBATIM
    assert find_deciding_sentence(text) == "We use tabs because the file does."
