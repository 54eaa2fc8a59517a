"""No entry can be changed, dropped or moved without the chain showing it."""

import json

import pytest
from any_event import TEXT, events
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.archived_block import block_id_from_text
from afresh.core.event import Event, JournalHead, StepFinished, TaskClaimed
from afresh.core.hash_chain import hash_entry, link_events, read_entry
from afresh.errors import Damaged


@given(st.lists(events(), min_size=1, max_size=4), st.floats(0, 1e12))
def test_what_was_linked_can_be_read(happened: list[Event], at: float) -> None:
    head = JournalHead()
    for entry in link_events("task", head, at, happened):
        assert read_entry(entry.body, head, entry.hash) == entry
        head = JournalHead(entry.seq, entry.hash)
    assert head.seq == len(happened)


@given(events(), TEXT, st.data())
def test_any_change_of_a_body_is_found(event: Event, past: str, data: st.DataObject) -> None:
    (entry,) = link_events("task", JournalHead(4, past), 1.0, [event])
    place = data.draw(st.integers(0, len(entry.body) - 1))
    changed = entry.body[:place] + data.draw(st.characters(exclude_categories=("Cs",))) + entry.body[place + 1 :]
    if changed != entry.body:
        with pytest.raises(Damaged, match="entry 5 does not match"):
            read_entry(changed, JournalHead(4, past), entry.hash)


def test_an_entry_is_not_believed_after_another_past() -> None:
    first, second = link_events("task", JournalHead(), 1.0, [TaskClaimed("a"), TaskClaimed("b")])
    with pytest.raises(Damaged):
        read_entry(second.body, JournalHead(1, hash_entry("", first.body + " ")), second.hash)


def test_linking_one_by_one_gives_the_same_chain_as_all_at_once() -> None:
    together = link_events("task", JournalHead(), 2.0, [TaskClaimed("a"), StepFinished(1, "done")])
    first = link_events("task", JournalHead(), 2.0, [TaskClaimed("a")])
    assert together == first + link_events("task", JournalHead(1, first[0].hash), 2.0, [StepFinished(1, "done")])


@pytest.mark.parametrize(("kind", "data"), [("Teleported", {}), ("Claimed", {"worker": "a", "Teleported": True})])
def test_an_event_from_the_future_is_told_as_such(kind: str, data: dict[str, object]) -> None:
    body = json.dumps({"task": "a", "seq": 1, "at": 1.0, "kind": kind, "data": data})
    with pytest.raises(Damaged, match="Teleported") as told:
        read_entry(body, JournalHead(), hash_entry("", body))
    assert "newer afresh" in told.value.next


def test_a_block_is_named_by_its_content() -> None:
    assert block_id_from_text("a") == block_id_from_text("a") != block_id_from_text("b")
    assert len(block_id_from_text("ü")) == 32
