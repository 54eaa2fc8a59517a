"""A snapshot gives back the state that was written, or says that it can't."""

import json
from dataclasses import replace

import pytest

from afresh.adapters.store import snapshot
from afresh.adapters.store.packing import packed, unpacked
from afresh.domain.event import Head
from afresh.domain.fact import Fact, FactKind, IndexLine, Region
from afresh.domain.state import State
from afresh.domain.task import Status, Task

STATE = State(
    task=Task(id="one", goal="näht ✓"),
    head=Head(3, "ab" * 32),
    status=Status.RUNNING,
    facts=(Fact(FactKind.NOTE, "a", "text"), Fact(FactKind.ERROR, "b", "more", 0.5, "block", 7)),
    regions=(Region("a.py", 1, 5, 2), Region("b.py", 3, 9, 4, True)),
    index=(IndexLine("block", "test", "a.py", 6_000, "phrase", 3),),
    words=("keep this",),
)


@pytest.mark.parametrize("state", [STATE, replace(STATE, facts=(), regions=(), index=())])
def test_a_state_comes_back_as_it_was(state: State) -> None:
    assert snapshot.read(snapshot.written(state)) == state


def test_a_state_that_had_other_fields_is_refused() -> None:
    plain = json.loads(unpacked(snapshot.written(STATE)))
    for old in (plain | {"shape": 1}, {name: held for name, held in plain.items() if name != "shape"}):
        with pytest.raises(KeyError):
            snapshot.read(packed(json.dumps(old)))


def test_a_list_of_another_version_is_refused() -> None:
    plain = json.loads(unpacked(snapshot.written(STATE)))
    for facts in (plain["facts"] | {"colour": ["red", "red"]}, {"text": ["only", "texts"]}):
        with pytest.raises(KeyError):
            snapshot.read(packed(json.dumps(plain | {"facts": facts})))
