"""A snapshot gives back the state that was written, or says that it can't."""

import json
from dataclasses import replace

import pytest

from afresh.core.archived_block import BlockIndexLine
from afresh.core.event import JournalHead
from afresh.core.fact import Fact, FactKind
from afresh.core.line_region import Region
from afresh.core.state import State
from afresh.core.states.dialogue_state import DialogueState
from afresh.core.states.memory_state import MemoryState
from afresh.core.task import Task, TaskStatus
from afresh.storage.sql import state_snapshot as snapshot
from afresh.storage.sql.blocks import compress_text, decompress_text

STATE = State(
    task=Task(id="one", goal="näht ✓"),
    head=JournalHead(3, "ab" * 32),
    status=TaskStatus.RUNNING,
    memory=MemoryState(
        facts=(Fact(FactKind.NOTE, "a", "text"), Fact(FactKind.FAILED_APPROACH, "b", "more", 0.5, "block", 7)),
        regions=(Region("a.py", 1, 5, 2), Region("b.py", 3, 9, 4, True)),
        index=(BlockIndexLine("block", "test", "a.py", 6_000, "phrase", 3),),
    ),
    dialogue=DialogueState(words=("keep this",)),
)


@pytest.mark.parametrize("state", [STATE, replace(STATE, memory=replace(STATE.memory, facts=(), regions=(), index=()))])
def test_a_state_comes_back_as_it_was(state: State) -> None:
    assert snapshot.decode_state(snapshot.encode_state(state)) == state


def test_a_state_that_had_other_fields_is_refused() -> None:
    plain = json.loads(decompress_text(snapshot.encode_state(STATE)))
    for old in (plain | {"shape": 1}, {name: held for name, held in plain.items() if name != "shape"}):
        with pytest.raises(KeyError):
            snapshot.decode_state(compress_text(json.dumps(old)))


def test_a_list_of_another_version_is_refused() -> None:
    plain = json.loads(decompress_text(snapshot.encode_state(STATE)))
    for facts in (plain["facts"] | {"colour": ["red", "red"]}, {"text": ["only", "texts"]}):
        with pytest.raises(KeyError):
            snapshot.decode_state(compress_text(json.dumps(plain | {"facts": facts})))
