"""Message classes: small talk goes, work is told in a line, what decides stands as it is."""

import pytest

from afresh.domain.passage import Voice
from afresh.engine.compaction.classes import Kind, deciding, kind


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
    assert kind(Voice.THOUGHT, text) is Kind.DROP


@pytest.mark.parametrize(
    "text",
    ["Let me look at parse_header.", "The test fails on empty input.", "Great, now let me see. " * 20],
    ids=["names something", "says something", "is long"],
)
def test_what_says_something_is_summarised(text):
    assert kind(Voice.THOUGHT, text) is Kind.SUMMARISE


def test_output_and_actions_are_work_whatever_they_say():
    assert {kind(voice, "Okay.") for voice in (Voice.ACTION, Voice.OUTPUT, Voice.SKETCH)} == {Kind.SUMMARISE}


def test_the_last_sentence_that_decides_is_kept_and_nothing_else():
    text = "I looked at both. We use tabs because the file does. Let me go on."
    assert kind(Voice.THOUGHT, text) is Kind.VERBATIM
    assert deciding(text) == "We use tabs because the file does."
