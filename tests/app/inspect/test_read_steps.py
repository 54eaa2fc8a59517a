"""A page of steps shows each step as it was, and reads only what it shows."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from afresh.app.inspect.read_steps import read_step_page
from afresh.core import event as happened
from afresh.core.event import Event, JournalEntry, JournalHead
from afresh.core.states.supervision_state import StepsUndone
from afresh.core.step_record import StepFate
from afresh.core.verdict import Ruling, Verdict
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sqlite.database import Database
from support.sample_journals import (
    append_events,
    append_step,
    create_task,
    make_action_events,
    make_block,
    make_call_events,
)

STEPS = 120


class CountingJournal(SqlJournal):
    """Counts the entries that are read."""

    entries = 0

    def journal(self, task: str, after: JournalHead = JournalHead()) -> Iterator[JournalEntry]:
        for entry in super().journal(task, after):
            self.entries += 1
            yield entry


@pytest.fixture
def store(tmp_path: Path) -> CountingJournal:
    return CountingJournal(Database(tmp_path / "afresh.db"))


def of(store: CountingJournal) -> Any:
    """A project, as far as steps are read from it."""
    return SimpleNamespace(store=store)


def take_step(store: CountingJournal, state: Any, *between: Event, snapshot: str = "", kept: bool = True) -> Any:
    step = state.work.step + 1
    output = make_block(f"output {step}")
    actions = make_action_events(step, output)
    ends: Sequence[Event] = (happened.ChangeKeptOrReverted(step, kept, snapshot), happened.StepFinished(step, "over"))
    return append_events(store, append_events(store, state, make_call_events(step)), [*actions[:2], *between, *ends], [output])


def test_the_last_page_of_a_long_task_reads_only_its_own_steps(store: CountingJournal) -> None:
    state = create_task(store)
    for _ in range(STEPS):
        state = append_step(store, state)
    page = read_step_page(of(store), "one", STEPS - 4, STEPS)
    assert [one.step for one in page.steps] == [116, 117, 118, 119, 120]
    assert store.entries < 60 < 6 * STEPS, "one step more than is shown, of six entries each"
    first = page.steps[0]
    assert first.call.tokens == 1_116 and first.reply and first.reply.thought == "thought 116"
    assert first.before == f"{115:040x}" and first.record and first.record.fate is StepFate.KEPT
    assert [fact.text for fact in first.facts] == ["seen in step 116"]


def test_a_step_tells_why_it_was_undone_by_the_harness_or_by_a_person(store: CountingJournal) -> None:
    state = append_events(store, create_task(store), [happened.WorkspaceOpened("base", "branch", "s0")])
    state = take_step(store, state, snapshot="s1")
    worse = Verdict(Ruling.FAIL, "1 test passed before and fails now")
    state = take_step(store, state, happened.VerdictReached(2, worse), snapshot="s1", kept=False)
    state = take_step(store, state, snapshot="s3")
    state = append_events(store, state, [StepsUndone(3, "s1", why="not like this")])
    state = take_step(store, state, snapshot="s4")
    page = read_step_page(of(store), "one", 1, 4)
    told = [(one.summary.mark, one.summary.result) for one in page.steps if one.summary]
    undone = [("↺", "undone: 1 test passed before and fails now"), ("↺", "undone: by a person: not like this")]
    assert told == [("✓", "kept"), *undone, ("✓", "kept")]
    assert [one.before for one in page.steps] == ["s0", "s1", "s1", "s1"]
    assert "undone" in [line["kind"] for line in page.lines]


def test_a_step_that_waits_for_its_reply_is_shown_as_far_as_it_is(store: CountingJournal) -> None:
    state = append_step(store, create_task(store))
    append_events(store, state, make_call_events(2)[:1])
    (one, two) = read_step_page(of(store), "one", 1, 2).steps
    assert one.record and two.reply is None and two.summary is None
