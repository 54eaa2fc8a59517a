"""A person takes back the latest steps: the tree, the plan and what was believed of them go back; that they were undone stays."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from afresh.core.change import hunks_from_changes
from afresh.core.event import (
    ActionsExecuted,
    CallRequested,
    ChangeKeptOrReverted,
    Event,
    JournalEntry,
    OutputDigested,
    StepFinished,
)
from afresh.core.fact import Fact, FactKind
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.states.supervision_state import PersonRequest, StepsUndone
from afresh.core.step_result import ActionResult, StepResult, ToolOutcome
from afresh.errors import NotPossible
from afresh.memory.failed_approaches import describe_approach, make_attempts
from afresh.ports.storage import JournalStore
from afresh.ports.workspace import Workspace

UNDONE_BY_PERSON = "undone by a person"


@dataclass(frozen=True, slots=True)
class UndoableStep:
    """A step that has not been undone."""

    step: int
    tried: str
    changed: bool = False


def undo_steps(state: State, store: JournalStore, workspace: Workspace, word: PersonRequest) -> list[Event]:
    """The events to record; the caller restores the tree after that. NotPossible if there is nothing to undo."""
    gone = select_steps_to_undo(state.task.id, store, word.steps)
    first = gone[0].step
    before = rebuild_state_before(store.journal(state.task.id), first)
    moved = (
        tuple(hunks_from_changes(workspace.changes(state.workspace.snapshot, before.workspace.snapshot)))
        if before.workspace.snapshot != state.workspace.snapshot
        else ()
    )
    changes = [step for step in gone if step.changed]
    taken = StepsUndone(
        first, before.workspace.snapshot, before.workspace.changed, before.work.plan, before.work.plan_step, moved, len(changes),
        word.by, word.text,
    )  # fmt: skip
    why = f"{UNDONE_BY_PERSON}{f': {word.text}' if word.text else ''}"
    facts = tuple(Fact(FactKind.FAILED_APPROACH, step.tried, why, step=step.step) for step in changes)
    return [taken, *([OutputDigested(facts=facts)] if facts else [])]


def select_steps_to_undo(task: str, store: JournalStore, steps: int, one_step: str = "`--steps 1`") -> list[UndoableStep]:
    """The steps that would be taken back; NotPossible if there are none. `one_step`: how a person asks for the last step."""
    stood = list_undoable_steps(store.journal(task))
    gone = stood[-steps:] if steps else select_since_last_change(stood)
    if not gone:
        taken = any(isinstance(entry.event, StepFinished) for entry in store.journal(task))
        what = "no kept change is left to undo" if taken else "there is nothing to undo: no step was taken yet"
        raise NotPossible(what, next=f"{one_step} undoes the last step anyway" if stood else f"afresh resume {task}")
    return gone


def is_just_undone(journal: Iterator[JournalEntry]) -> bool:
    """Whether nothing has happened since steps were taken back."""
    last = None
    for entry in journal:
        if not isinstance(entry.event, OutputDigested):
            last = entry.event
    return isinstance(last, StepsUndone)


def select_since_last_change(stood: list[UndoableStep]) -> list[UndoableStep]:
    last = next((place for place in reversed(range(len(stood))) if stood[place].changed), len(stood))
    return stood[last:]


def list_undoable_steps(journal: Iterator[JournalEntry]) -> list[UndoableStep]:
    steps, tried, snapshot, changed = list[UndoableStep](), "", "", False
    for entry in journal:
        match entry.event:
            case ActionsExecuted(_, observations):
                done = tuple(ActionResult(seen.action, ToolOutcome(seen.text, seen.ok)) for seen in observations)
                tried, changed = describe_approach(make_attempts(StepResult(done, ""))), False
            case ChangeKeptOrReverted(kept=kept, snapshot=after, hunks=moved):
                snapshot, changed = after, kept and (bool(moved) or (bool(snapshot) and after != snapshot))
            case StepFinished(step):
                steps.append(UndoableStep(step, tried, changed))
            case StepsUndone(step, before):
                steps, snapshot = [undoable for undoable in steps if undoable.step < step], before
            case _:
                pass
    return steps


def rebuild_state_before(journal: Iterator[JournalEntry], step: int) -> State:
    """The state of the task when that step began."""
    state: State | None = None
    for entry in journal:
        if isinstance(entry.event, CallRequested) and entry.event.step == step:
            break
        state = fold_entries(state, [entry])
    assert state, "a journal is never empty"
    return replace(state, work=replace(state.work, pending=None))
