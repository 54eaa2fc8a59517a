"""Values of the wrong kind are found, wherever they stand; what this program makes is never complained of."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from tests_domain import events

from afresh.domain.action import Action, Observation, Reply
from afresh.domain.codec import dumps, loads
from afresh.domain.conform import misfit
from afresh.domain.event import Acted, Digested, Ended, Event, Finished, Replied
from afresh.domain.fact import Fact, FactKind
from afresh.domain.task import Status


@settings(deadline=None)
@given(events())
def test_every_event_that_can_be_written_and_read_conforms(event: Event) -> None:
    assert misfit(loads(type(event), dumps(event)), type(event)) == ""


ANY: Any = Fact(FactKind.NOTE, "a", "b")
SEEN = Observation(Action("read"), True, "text")


@pytest.mark.parametrize(
    ("event", "where"),
    [
        (Finished("1", "done"), "step.value"),  # pyright: ignore[reportArgumentType]
        (Finished(True, "done"), "step.value"),
        (Finished(1 << 63, "done"), "step.value"),
        (Finished(1, None), "outcome.value"),  # pyright: ignore[reportArgumentType]
        (Ended("done", "why"), "status.value"),  # pyright: ignore[reportArgumentType]
        (Acted(1, [SEEN]), "observations.value"),  # pyright: ignore[reportArgumentType]
        (Acted(1, (replace(SEEN, ok=1),)), "observations.ok.value"),
        (Digested(facts=(replace(ANY, confidence="high"),)), "facts.confidence.value"),
        (Digested(facts=(replace(ANY, lines=(1, 2, 3)),)), "facts.lines.value"),
        (Digested(facts=(replace(ANY, lines=(1, "2")),)), "facts.lines.value"),
        (Replied(1, Reply(actions=(Action("read", {1: 2}),))), "reply.actions.args.value"),  # pyright: ignore
        (Replied(1, None), "reply.value"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_what_is_wrong_is_named_by_the_fields_that_lead_to_it(event: Event, where: str) -> None:
    assert misfit(event, type(event)) == where


def test_a_whole_number_will_do_where_a_fraction_is_meant() -> None:
    assert misfit(Digested(facts=(replace(ANY, confidence=1),)), Digested) == ""
    assert misfit(Ended(Status.DONE, "why"), Ended) == ""
