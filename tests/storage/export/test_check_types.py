"""Values of the wrong kind are found, wherever they stand; what this program makes is never complained of."""

from dataclasses import replace
from typing import Any

import pytest
from any_event import events
from hypothesis import given

from afresh.core.action import Action, Observation
from afresh.core.codec import to_canonical_json, value_from_json
from afresh.core.event import ActionsExecuted, Event, OutputDigested, ReplyReceived, StepFinished, TaskEnded
from afresh.core.fact import Fact, FactKind
from afresh.core.reply import Reply
from afresh.core.task import TaskStatus
from afresh.storage.export.manifest import find_type_mismatch


@given(events())
def test_every_event_that_can_be_written_and_read_conforms(event: Event) -> None:
    assert find_type_mismatch(value_from_json(type(event), to_canonical_json(event)), type(event)) == ""


ANY: Any = Fact(FactKind.NOTE, "a", "b")
SEEN = Observation(Action("read"), True, "text")


@pytest.mark.parametrize(
    ("event", "where"),
    [
        (StepFinished("1", "done"), "step.value"),  # pyright: ignore[reportArgumentType]
        (StepFinished(True, "done"), "step.value"),
        (StepFinished(1 << 63, "done"), "step.value"),
        (StepFinished(1, None), "outcome.value"),  # pyright: ignore[reportArgumentType]
        (TaskEnded("done", "why"), "status.value"),  # pyright: ignore[reportArgumentType]
        (ActionsExecuted(1, [SEEN]), "observations.value"),  # pyright: ignore[reportArgumentType]
        (ActionsExecuted(1, (replace(SEEN, ok=1),)), "observations.ok.value"),
        (OutputDigested(facts=(replace(ANY, confidence="high"),)), "facts.confidence.value"),
        (OutputDigested(facts=(replace(ANY, lines=(1, 2, 3)),)), "facts.lines.value"),
        (OutputDigested(facts=(replace(ANY, lines=(1, "2")),)), "facts.lines.value"),
        (ReplyReceived(1, Reply(actions=(Action("read", {1: 2}),))), "reply.actions.args.value"),  # pyright: ignore
        (ReplyReceived(1, None), "reply.value"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_what_is_wrong_is_named_by_the_fields_that_lead_to_it(event: Event, where: str) -> None:
    assert find_type_mismatch(event, type(event)) == where


def test_a_whole_number_will_do_where_a_fraction_is_meant() -> None:
    assert find_type_mismatch(OutputDigested(facts=(replace(ANY, confidence=1),)), OutputDigested) == ""
    assert find_type_mismatch(TaskEnded(TaskStatus.DONE, "why"), TaskEnded) == ""
