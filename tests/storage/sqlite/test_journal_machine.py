"""Any sequence of appends, stale writers, reopenings and lost snapshots leaves what a plain list of events says."""

import sqlite3
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, precondition, rule

from afresh.core import event as happened
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.task import TaskStatus
from afresh.errors import Conflict
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sqlite.database import Database
from support.sample_journals import append_events, append_step, create_task, end_task, make_block, make_call_events

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=300)


class Journal(RuleBasedStateMachine):
    states = Bundle("states")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "afresh.db"
        self.now: dict[str, State] = {}
        self.texts: set[str] = set()
        self.reopen()

    @rule()
    def reopen(self) -> None:
        self.store = SqlJournal(Database(self.path, checkpoint_bytes=150_000))

    @rule(target=states)
    def a_new_task(self) -> State:
        state = create_task(self.store, f"task{len(self.now)}")
        self.now[state.task.id] = state
        return state

    @rule(target=states, seen=states, step=st.booleans())
    def work(self, seen: State, step: bool) -> State:
        """On what was seen at some time: only the newest may be continued."""
        if seen != self.now[seen.task.id]:
            with pytest.raises(Conflict):
                append_events(self.store, seen, [happened.TaskClaimed("stale")])
            return seen
        after = append_step(self.store, seen) if step else append_events(self.store, seen, make_call_events(seen.work.step + 1))
        self.now[seen.task.id] = after
        return after

    @rule(target=states, seen=states, many=st.integers(1, 150))
    def a_long_commit(self, seen: State, many: int):
        if seen != self.now[seen.task.id]:
            return multiple()
        self.now[seen.task.id] = append_events(
            self.store, seen, [happened.TaskClaimed(f"worker {number}") for number in range(many)]
        )
        return self.now[seen.task.id]

    @rule(
        target=states,
        seen=states,
        text=TEXT,
        status=st.sampled_from(TaskStatus),
    )
    def rest(self, seen: State, text: str, status: TaskStatus):
        if seen != self.now[seen.task.id]:
            return multiple()
        state = append_events(self.store, seen, [happened.QuestionAnswered(text)], [make_block(text)])
        self.texts.add(text)
        self.now[seen.task.id] = end_task(self.store, state, status)
        return self.now[seen.task.id]

    @precondition(lambda self: self.now)
    @rule()
    def snapshots_are_lost(self) -> None:
        connection = sqlite3.connect(self.path, isolation_level=None)
        connection.execute("DELETE FROM snapshot")
        connection.close()

    @invariant()
    def every_task_is_what_was_written(self) -> None:
        for task, state in self.now.items():
            assert self.store.load(task) == state
            assert fold_entries(None, self.store.journal(task)) == state
        for text in self.texts:
            assert self.store.read(make_block(text).id) == text

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()


TestJournal = Journal.TestCase
TestJournal.settings = settings(max_examples=settings.default.max_examples * 2 // 5, stateful_step_count=12)
