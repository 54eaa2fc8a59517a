"""Checkpoints by the clock and by the share of steps: decided from the journal, at most one when it is due."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from long_run import Killed, agent

from afresh.core.event import CallRequested, CheckpointWritten, StepFinished, TaskClaimed, TaskCreated
from afresh.core.prompt import CallAudit
from afresh.core.reducer import fold_entries
from afresh.core.state import State, TaskTimes
from afresh.core.states.ceiling_state import CallFigures
from afresh.core.states.token_state import TokenState
from afresh.core.states.work_state import WorkState
from afresh.core.task import Task
from afresh.journal.checkpoint import CHECKPOINT_INTERVAL_SECONDS, find_checkpoint_reason
from afresh.loop import advance_task
from afresh.storage.sqlite.storage import open_sqlite_journal
from support.fakes import FakeClock
from support.sample_journals import append_events, make_entries

STARTED = 1_700_000_000.0


def at(step: int, limit: int = 60, last: int = 0) -> State:
    return State(
        task=Task(id="t", goal="g"),
        work=WorkState(step=step, limit=limit),
        times=TaskTimes(checkpointed=STARTED, checkpoint_step=last),
    )


def test_it_is_due_after_a_quarter_of_an_hour_and_not_before() -> None:
    assert not find_checkpoint_reason(at(0), 1, STARTED + CHECKPOINT_INTERVAL_SECONDS - 1)
    assert (
        find_checkpoint_reason(at(0), 1, STARTED + CHECKPOINT_INTERVAL_SECONDS)
        == "15 minutes or more have passed since the last one"
    )


def test_it_is_due_once_at_sixty_per_cent_of_the_steps() -> None:
    assert [step for step in range(1, 60) if find_checkpoint_reason(at(step - 1), step, STARTED)] == [*range(36, 60)]
    assert "36 of 60 steps" in find_checkpoint_reason(at(35), 36, STARTED)
    assert not find_checkpoint_reason(at(36, last=36), 37, STARTED), "one is enough"
    assert find_checkpoint_reason(at(71, limit=120, last=36), 72, STARTED), "an answer that allows more steps sets a new mark"


@given(st.lists(st.floats(0, 2_000), min_size=1, max_size=60), st.integers(1, 80))
def test_the_gaps_are_bounded_and_no_checkpoint_is_written_without_need(pauses: list[float], limit: int) -> None:
    entries, state = make_entries(None, [TaskCreated(Task(id="t", goal="g", max_steps=limit)), TaskClaimed("w")], STARTED)
    now, journal, last = STARTED, [*entries], STARTED
    for pause in pauses:
        now, step = now + pause, state.work.step + 1
        why = find_checkpoint_reason(state, step, now)
        assert bool(why) == (
            now - last >= CHECKPOINT_INTERVAL_SECONDS or state.times.checkpoint_step < -(-limit * 60 // 100) <= step
        )
        last = now if why else last
        entries, state = make_entries(state, [StepFinished(step, ""), *([CheckpointWritten(step, why)] if why else [])], now)
        journal += entries
    assert fold_entries(None, journal) == state and state.times.checkpointed == last


class Ticking(FakeClock):
    """Four minutes between any two looks at it."""

    def now(self) -> float:
        self.move(240.0)
        return self.at


def test_a_long_task_is_checkpointed_by_the_clock_and_at_its_mark(tmp_path: Path) -> None:
    store = open_sqlite_journal(tmp_path / "afresh.db")
    append_events(store, None, [TaskCreated(Task(id="t", goal="See what the jobs print", max_steps=20))], at=STARTED)
    made, _ = agent(store, 15)
    with pytest.raises(Killed):
        advance_task("t", "worker", replace(made, clock=Ticking()))
    entries = [*store.journal("t")]
    found = [entry for entry in entries if isinstance(entry.event, CheckpointWritten)]
    assert 12 in [entry.event.step for entry in found] and len(found) > 4
    gaps = [later.at - earlier.at for earlier, later in pairwise(found)]
    assert max(gaps) < 2 * CHECKPOINT_INTERVAL_SECONDS, "at the end of the step in which it falls due"
    for entry in found:
        ended = [before for before in entries[: entry.seq - 1] if isinstance(before.event, StepFinished)][-1]
        assert ended.event.step == entry.event.step
        assert entry.seq == ended.seq + 1
    assert fold_entries(None, entries) == store.load("t")


def with_call(tokens: int, crowded: bool = False) -> State:
    figures = TokenState(last_call=CallFigures(budget=4_000, tokens=tokens, reserve=500))
    return replace(at(3), tokens=figures, times=TaskTimes(checkpointed=STARTED, crowded=crowded))


def test_it_is_due_once_when_a_prompt_is_60_percent_full() -> None:
    assert not find_checkpoint_reason(with_call(2_099), 4, STARTED)
    assert find_checkpoint_reason(with_call(2_100), 4, STARTED) == "the prompt filled 60% of its 3,500 tokens"
    assert not find_checkpoint_reason(with_call(3_465, crowded=True), 4, STARTED), "one is enough while it stays so"


def test_it_is_due_again_after_calls_had_room(tmp_path: Path) -> None:
    def call(step: int, tokens: int) -> CallRequested:
        return CallRequested(step, CallAudit("h", 4_000, tokens, (), (), reserve=500))

    state = make_entries(None, [TaskCreated(Task(id="t", goal="g")), TaskClaimed("w"), call(1, 2_400)], STARTED)[1]
    state = fold_entries(state, make_entries(state, [CheckpointWritten(1, "crowded")], STARTED)[0])
    assert state.times.crowded and state.times.checkpoints == 1 and state.times.claims == 1
    roomy = make_entries(state, [call(2, 1_000), call(3, 1_000)], STARTED)[1]
    crowded = make_entries(roomy, [call(4, 2_500)], STARTED)[1]
    assert find_checkpoint_reason(crowded, 4, STARTED) and not find_checkpoint_reason(roomy, 3, STARTED)
