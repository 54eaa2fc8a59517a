"""Values come back as they were, and the same value always gives the same bytes."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from tests_domain import events, of

from afresh.domain.action import Action, Reply, Usage
from afresh.domain.codec import dumps, encode, loads
from afresh.domain.event import Event
from afresh.domain.state import State
from afresh.domain.task import Check, Status, Task
from afresh.domain.window import SectionRef, Tier


@settings(deadline=None)
@given(events())
def test_every_event_comes_back_as_it_was(event: Event) -> None:
    text = dumps(event)
    again = loads(type(event), text)
    assert again == event
    assert dumps(again) == text


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(of(State))
def test_every_state_comes_back_as_it_was(state: State) -> None:
    assert loads(State, dumps(state)) == state


def test_fields_at_their_default_are_left_out() -> None:
    assert dumps(Task(id="a", goal="b")) == '{"goal":"b","id":"a"}'
    assert dumps(Reply(usage=Usage(1))) == '{"usage":{"input":1}}'


def test_keys_are_sorted_and_letters_stay_as_they_are() -> None:
    assert dumps(Action("read", {"z": 1, "a": "ü✓", "m": [1, {"y": 2, "b": None}]})) == (
        '{"args":{"a":"ü✓","m":[1,{"b":null,"y":2}],"z":1},"tool":"read"}'
    )


def test_enumerations_are_written_by_value() -> None:
    assert encode((Status.DONE, Tier.DEMAND)) == ["done", 2]
    assert json.loads(dumps(SectionRef("facts", Tier.PHASE, "block", 3))) == {
        "name": "facts", "tier": 1, "block": "block", "tokens": 3,
    }  # fmt: skip


def test_the_order_in_which_arguments_came_does_not_matter() -> None:
    assert dumps(Action("edit", {"a": 1, "b": 2})) == dumps(Action("edit", {"b": 2, "a": 1}))


def test_a_field_that_this_version_does_not_know_is_refused() -> None:
    with pytest.raises(KeyError, match="colour"):
        loads(Check, '{"command":"pytest","colour":"red"}')
