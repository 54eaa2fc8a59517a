"""Values come back as they were, and the same value always gives the same bytes."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any

import pytest
from any_event import events, of
from hypothesis import given, settings

from afresh.core.action import Action
from afresh.core.codec import to_canonical_json, to_plain_value, value_from_json
from afresh.core.event import TAG_BY_EVENT_CLASS, Event, JournalHead
from afresh.core.hash_chain import link_events
from afresh.core.prompt import SectionRef, Tier
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.task import Check, Task, TaskStatus
from afresh.core.usage import Usage


@given(events())
def test_every_event_comes_back_as_it_was(event: Event) -> None:
    text = to_canonical_json(event)
    again = value_from_json(type(event), text)
    assert again == event
    assert to_canonical_json(again) == text


def plainly(value: Any) -> Any:
    """What `dumps` writes, said the slow way."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        held = {field.name: (field, getattr(value, field.name)) for field in fields(value)}
        return {name: plainly(this) for name, (field, this) in held.items() if this != default_of(field)}
    if isinstance(value, (tuple, list)):
        return [plainly(item) for item in value]
    return {key: plainly(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def default_of(field: Any) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default


@given(events())
def test_the_bytes_are_those_of_sorted_json_without_spaces(event: Event) -> None:
    text = json.dumps(plainly(event), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert to_canonical_json(event) == text
    (entry,) = link_events("one", JournalHead(), 1.5, [event])
    kind = json.dumps(TAG_BY_EVENT_CLASS[type(event)])
    assert entry.body == f'{{"at":1.5,"data":{text},"kind":{kind},"seq":1,"task":"one"}}'


def test_numbers_are_written_as_json_writes_them() -> None:
    for number in (0, -1, 10**30, 0.1, 1e300, float("inf"), float("-inf"), True):
        assert to_canonical_json(Action("run", {"n": number})) == f'{{"args":{{"n":{json.dumps(number)}}},"tool":"run"}}'
    assert to_canonical_json(float("nan")) == "NaN"


def test_what_json_does_not_know_is_refused() -> None:
    for strange in (b"bytes", {1}, object()):
        with pytest.raises(TypeError):
            to_canonical_json(Action("run", {"what": strange}))


@settings(max_examples=settings.default.max_examples // 2)
@given(of(State))
def test_every_state_comes_back_as_it_was(state: State) -> None:
    assert value_from_json(State, to_canonical_json(state)) == state


def test_fields_at_their_default_are_left_out() -> None:
    assert to_canonical_json(Task(id="a", goal="b")) == '{"goal":"b","id":"a"}'
    assert to_canonical_json(Reply(usage=Usage(1))) == '{"usage":{"input":1}}'


def test_keys_are_sorted_and_letters_stay_as_they_are() -> None:
    assert to_canonical_json(Action("read", {"z": 1, "a": "ü✓", "m": [1, {"y": 2, "b": None}]})) == (
        '{"args":{"a":"ü✓","m":[1,{"b":null,"y":2}],"z":1},"tool":"read"}'
    )


def test_enumerations_are_written_by_value() -> None:
    assert to_plain_value((TaskStatus.DONE, Tier.DEMAND)) == ["done", 2]
    assert json.loads(to_canonical_json(SectionRef("facts", Tier.PHASE, "block", 3))) == {
        "name": "facts", "tier": 1, "block": "block", "tokens": 3,
    }  # fmt: skip


def test_the_order_in_which_arguments_came_does_not_matter() -> None:
    assert to_canonical_json(Action("edit", {"a": 1, "b": 2})) == to_canonical_json(Action("edit", {"b": 2, "a": 1}))


def test_a_field_that_this_version_does_not_know_is_refused() -> None:
    with pytest.raises(KeyError, match="colour"):
        value_from_json(Check, '{"command":"pytest","colour":"red"}')
