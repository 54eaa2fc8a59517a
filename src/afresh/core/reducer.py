"""State is the fold of a task's journal. Nothing else changes a state."""

from collections.abc import Iterable
from dataclasses import replace

from afresh.core.event import (
    CallRequested,
    CheckpointWritten,
    Event,
    JournalEntry,
    JournalHead,
    QuestionAnswered,
    StepFinished,
    TaskClaimed,
    TaskCreated,
    TaskEnded,
    is_in_decision_log,
)
from afresh.core.state import State, TaskTimes
from afresh.core.states.ceiling_state import RAISE_LIMIT_OPTION, LimitsOrdered
from afresh.core.states.queue_state import AttemptFailed, AttemptState, FailureCause, TaskFailure, TaskHeld
from afresh.core.states.supervision_state import StepsUndone, TurnBegan
from afresh.core.states.work_state import WorkState
from afresh.core.task import Task, TaskStatus


def fold_entries(state: State | None, entries: Iterable[JournalEntry]) -> State:
    last: JournalEntry | None = None
    for entry in entries:
        if state is None:
            assert isinstance(entry.event, TaskCreated), "a journal begins with Created"
            task = entry.event.task
            state = State(task=task, times=TaskTimes(started=entry.at), work=WorkState(limit=task.max_steps))
        state, last = apply_event(entry.event, state, entry.at), entry
    assert state is not None, "a journal is never empty"
    return replace(state, head=JournalHead(last.seq, last.hash)) if last else state


def apply_event(event: Event, state: State, at: float | None = None) -> State:
    """Each part takes from an event what concerns it; all of them see the state as it was before. Without a time the event is
    only imagined, and the clocks stay."""
    return State(
        task=next_task(event, state),
        head=state.head,
        status=next_status(event, state.status),
        worker=next_worker(event, state.worker),
        times=state.times if at is None else next_times(event, state.times, at, state),
        workspace=state.workspace.apply(event, state),
        verification=state.verification.apply(event, state),
        work=state.work.apply(event, state),
        dialogue=state.dialogue.apply(event, state),
        memory=state.memory.apply(event, state),
        tokens=state.tokens.apply(event, state),
        spending=state.spending.apply(event),
    )


def next_task(event: Event, state: State) -> Task:
    """As ordered; a person may order other limits."""
    match event:
        case LimitsOrdered():
            return replace(state.task, budget=event.budget, max_budget=event.max_budget)
        case QuestionAnswered() if state.dialogue.limit and event.option == RAISE_LIMIT_OPTION:
            return replace(state.task, max_budget=state.dialogue.limit)
        case _:
            return state.task


def next_status(event: Event, now: TaskStatus) -> TaskStatus:
    match event:
        case TaskClaimed():
            return TaskStatus.RUNNING
        case QuestionAnswered() | TurnBegan():
            return TaskStatus.READY
        case LimitsOrdered(resumes=True):
            return TaskStatus.READY
        case StepsUndone():
            return TaskStatus.READY if now in (TaskStatus.BLOCKED, TaskStatus.DONE, TaskStatus.FAILED) else now
        case TaskEnded():
            return event.status
        case _:
            return now


def next_worker(event: Event, now: str) -> str:
    match event:
        case TaskClaimed():
            return event.worker
        case TaskEnded() | TaskHeld() | AttemptFailed():
            return ""
        case _:
            return now


def next_times(event: Event, now: TaskTimes, at: float, state: State) -> TaskTimes:
    """The clock of checkpoints starts with the first claim, so that it runs on through a crash. A checkpoint is due when the
    last prompt was so full that the state is crowded."""
    log_lines = now.log_lines + is_in_decision_log(event)
    now = replace(now, updated=at, log_lines=log_lines, attempts=next_attempts(event, now.attempts, at, state.worker))
    match event:
        case CheckpointWritten():
            written = now.checkpoints + 1
            return replace(now, checkpointed=at, checkpoint_step=event.step, checkpoints=written, crowded=state.is_crowded)
        case TaskClaimed():
            return replace(now, checkpointed=now.checkpointed or at, claims=now.claims + 1)
        case CallRequested():
            return replace(now, called=at, crowded=now.crowded and state.is_crowded)
        case _:
            return now


def next_attempts(event: Event, now: AttemptState, at: float, holder: str) -> AttemptState:
    """A finished step and a person's word end a row of failures; a claim ends the waiting."""
    match event:
        case TaskClaimed():
            return now.take_up() if event.worker != holder else now
        case AttemptFailed():
            return now.add_failure(TaskFailure(at, event.cause, event.what, event.retry_at))
        case TaskEnded():
            is_logged = event.status is not TaskStatus.FAILED or (now.failures and now.failures[-1].at == at)
            ended = now.get_on()
            return ended if is_logged else ended.add_failure(TaskFailure(at, FailureCause.MERITS, event.reason))
        case StepFinished():
            return now.get_on()
        case QuestionAnswered() | TurnBegan() if now.streak or now.retry_at:
            return replace(now, streak=0, retry_at=0.0)
        case _:
            return now
