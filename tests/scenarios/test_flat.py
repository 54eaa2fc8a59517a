"""A later step does the work of an earlier one: tokens, bytes written, statements and blocks read."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection

import pytest
from long_run import Killed, agent, ordered

from afresh.core.archived_block import Block
from afresh.core.event import JournalEntry
from afresh.core.state import State
from afresh.loop import advance_task
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sqlite.database import Database
from support.states import replace_in_parts

pytestmark = pytest.mark.journey

STEPS, ROUND, ALLOWED = 121, 20, 1.2
"""Rounds of twenty steps are compared: every tenth step takes a note, and now and then memory is compacted."""


class Counted(Database):
    """Counts the statements that it is asked to run."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.statements = 0

    def _one_more(self, statement: str) -> None:
        self.statements += 1

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with super().reading() as connection:
            connection.set_trace_callback(self._one_more)
            yield connection

    @contextmanager
    def writing(self, payload: int = 0) -> Iterator[Connection]:
        with super().writing(payload) as connection:
            connection.set_trace_callback(self._one_more)
            yield connection


class Measured(SqlJournal):
    """A watcher of its own work: what each step added to it."""

    def __init__(self, database: Counted) -> None:
        super().__init__(database)
        self.counted, self.work, self.steps = database, Counter[str](), dict[int, Counter[str]]()

    def append(self, entries: Sequence[JournalEntry], blocks: Sequence[Block], state: State) -> None:
        self.work["bytes"] += sum(len(entry.body) for entry in entries) + sum(len(block.text) for block in blocks)
        super().append(entries, blocks, state)

    def read(self, block: str) -> str:
        self.work["blocks"] += 1
        return super().read(block)

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        self.work["statements"] = self.counted.statements
        now = Counter(self.work)
        now["tokens"] = self.steps.get(state.work.step - 1, now)["tokens"] + state.tokens.last_call.tokens
        if not state.work.pending:
            self.steps[state.work.step] = now

    def follow(self, event: object) -> None: ...

    def over(self, first: int) -> dict[str, int]:
        """What a round of steps took, from this one on."""
        before, after = self.steps[first - 1], self.steps[first - 1 + ROUND]
        return {name: after[name] - before[name] for name in after}


def test_a_step_does_not_cost_more_the_later_it_is(tmp_path: Path):
    store = Measured(Counted(tmp_path / "afresh.db"))
    ordered(store)
    made, _ = agent(store, STEPS)
    try:
        advance_task("t", "worker", replace_in_parts(made, watchers=(store,)))
    except Killed:
        early, late = store.over(41), store.over(STEPS - ROUND)
    assert min(early.values()) > 0 and early.keys() == {"bytes", "blocks", "statements", "tokens"}
    assert {name: late[name] for name in early if late[name] > ALLOWED * early[name]} == {}, (early, late)
