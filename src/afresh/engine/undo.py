"""A person takes back the latest steps: the tree, the plan and what was believed of them go back; that they were undone stays."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from afresh.domain.attended import Word
from afresh.domain.event import Acted, Digested, Entry, Event, Finished, Requested, Settled, Undone
from afresh.domain.fact import Fact, FactKind
from afresh.domain.fold import fold
from afresh.domain.state import State
from afresh.engine.act import Deed, Deeds
from afresh.engine.settle import approach, hunks
from afresh.errors import BadInput
from afresh.ports import Outcome, Store, Workspace

BY_A_PERSON = "undone by a person"


@dataclass(frozen=True, slots=True)
class Stood:
    """A step that has not been undone."""

    step: int
    tried: str
    changed: bool = False


def undoing(state: State, store: Store, workspace: Workspace, word: Word) -> list[Event]:
    """What is to be recorded; the tree is the caller's to put back after that. BadInput if there is nothing to undo."""
    gone = to_undo(state.task.id, store, word.steps)
    first = gone[0].step
    before = state_before(store.journal(state.task.id), first)
    moved = tuple(hunks(workspace.changes(state.snapshot, before.snapshot))) if before.snapshot != state.snapshot else ()
    changes = [one for one in gone if one.changed]
    taken = Undone(
        first, before.snapshot, before.changed, before.plan, before.planned, moved, len(changes), word.by, word.text
    )  # fmt: skip
    why = f"{BY_A_PERSON}{f': {word.text}' if word.text else ''}"
    facts = tuple(Fact(FactKind.FAILED_APPROACH, one.tried, why, step=one.step) for one in changes)
    return [taken, *([Digested(facts=facts)] if facts else [])]


def to_undo(task: str, store: Store, steps: int, one_step: str = "`--steps 1`") -> list[Stood]:
    """The steps that would be taken back; BadInput if there are none. `one_step`: how a person asks for the last step."""
    stood = standing(store.journal(task))
    gone = stood[-steps:] if steps else since_last_change(stood)
    if not gone and stood:
        raise BadInput(
            "there is nothing to undo: no step has changed a file", next=f"{one_step} takes back the last step all the same"
        )
    if not gone:
        raise BadInput("there is nothing to undo: no step has been taken", next="let it take one first")
    return gone


def just_undone(journal: Iterator[Entry]) -> bool:
    """Whether nothing has happened since steps were taken back."""
    last = None
    for entry in journal:
        if not isinstance(entry.event, Digested):
            last = entry.event
    return isinstance(last, Undone)


def since_last_change(stood: list[Stood]) -> list[Stood]:
    last = next((place for place in reversed(range(len(stood))) if stood[place].changed), len(stood))
    return stood[last:]


def standing(journal: Iterator[Entry]) -> list[Stood]:
    steps, tried, snapshot, changed = list[Stood](), "", "", False
    for entry in journal:
        match entry.event:
            case Acted(_, observations):
                done = tuple(Deed(seen.action, Outcome(seen.text, seen.ok)) for seen in observations)
                tried, changed = approach(Deeds(done, "")), False
            case Settled(kept=kept, snapshot=after, hunks=moved):
                snapshot, changed = after, kept and (bool(moved) or (bool(snapshot) and after != snapshot))
            case Finished(step):
                steps.append(Stood(step, tried, changed))
            case Undone(step, before):
                steps, snapshot = [one for one in steps if one.step < step], before
            case _:
                pass
    return steps


def state_before(journal: Iterator[Entry], step: int) -> State:
    """As the task stood when that step began."""
    state: State | None = None
    for entry in journal:
        if isinstance(entry.event, Requested) and entry.event.step == step:
            break
        state = fold(state, [entry])
    assert state, "a journal is never empty"
    return replace(state, pending=None)
