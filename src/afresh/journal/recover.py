"""A person goes back to a checkpoint: the tree as it was, and memory in short. Nothing is lost: what came after it stays in the
journal, and has a checkpoint of its own."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from afresh.core.change import hunks_from_changes
from afresh.core.decision import Decision, add_decision
from afresh.core.event import CheckpointWritten, Event, JournalEntry, StepFinished
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.states.supervision_state import RecoveredFromCheckpoint, StepsUndone
from afresh.core.step_history import Summary
from afresh.core.tokens import estimate_tokens
from afresh.errors import BadInput
from afresh.memory.history.score import OddsWeights
from afresh.memory.history.trace import Trace
from afresh.memory.summarise import summarise_passages
from afresh.ports.workspace import Workspace

BEFORE_RECOVERY = "before the recovery from the checkpoint after step {0}"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A written checkpoint with the state of the task at that time."""

    reason: str
    at: float
    state: State

    @property
    def step(self) -> int:
        return self.state.work.step

    @property
    def is_recoverable(self) -> bool:
        """Whether there is a tree to go back to."""
        return bool(self.state.workspace.snapshot)


def list_checkpoints(journal: Iterator[JournalEntry]) -> list[Checkpoint]:
    """Oldest first, and of several after the same step the last."""
    state, checkpoints = None, dict[int, Checkpoint]()
    for entry in journal:
        state = fold_entries(state, [entry])
        if isinstance(entry.event, CheckpointWritten):
            checkpoints.pop(entry.event.step, None)
            checkpoints[entry.event.step] = Checkpoint(entry.event.reason, entry.at, state)
    return list(checkpoints.values())


def is_just_recovered(journal: Iterator[JournalEntry], step: int) -> bool:
    """Whether the task is back at this checkpoint and no step was taken since."""
    last = None
    for entry in journal:
        if isinstance(entry.event, StepFinished | StepsUndone | RecoveredFromCheckpoint):
            last = entry.event
    return isinstance(last, RecoveredFromCheckpoint) and last.step == step


def find_checkpoint(written: list[Checkpoint], step: int, task: str) -> Checkpoint:
    """The one after this step. BadInput if there is none to go back to."""
    checkpoint = next((one for one in written if one.step == step), None)
    if checkpoint and checkpoint.is_recoverable:
        return checkpoint
    steps = ", ".join(str(one.step) for one in written if one.is_recoverable) or "none"
    raise BadInput(
        f"{task} has no checkpoint to recover from after step {step}; there are: {steps}",
        next=f"`afresh show {task} --checkpoints` lists them",
        safe="nothing was changed",
    )


def save_before_recovery(state: State, step: int) -> list[Event]:
    """A checkpoint of what is left behind, unless there is one."""
    if state.times.checkpoints and state.times.checkpoint_step == state.work.step:
        return []
    return [CheckpointWritten(state.work.step, BEFORE_RECOVERY.format(step))]


def recover_from_checkpoint(
    now: State, then: State, trace: Trace, odds: OddsWeights, workspace: Workspace, by: str
) -> list[Event]:
    """The events to record; the caller restores the tree after that. `trace`: of the passages at the checkpoint."""
    tree, left = then.workspace, now.workspace.snapshot
    moved = () if tree.snapshot == left else tuple(hunks_from_changes(workspace.changes(left, tree.snapshot)))
    text = (
        f"recovered from the checkpoint after step {then.work.step}: steps {then.work.step + 1} to {now.work.step} do not count"
    )
    undone = StepsUndone(
        then.work.step + 1, tree.snapshot, tree.changed, then.work.plan, then.work.plan_step, moved,
        max(0, now.workspace.kept - tree.kept), by, text,
    )  # fmt: skip
    decision = Decision(f"{text}; their tree is snapshot {left[:12]}", "harness", step=now.work.step)
    memory = then.memory
    return [
        undone,
        RecoveredFromCheckpoint(
            then.work.step, now.work.step, left, summarise_state(then, trace, odds), memory.facts,
            add_decision(memory.decisions, decision), memory.regions, memory.index, memory.archived, by,
        ),
    ]  # fmt: skip


def summarise_state(state: State, trace: Trace, odds: OddsWeights) -> Summary:
    """All that is remembered of the steps, in the words of a summary."""
    passages = frozenset(state.memory.passages)
    summary = summarise_passages(state.memory.summary, passages, trace, odds, estimate_tokens)
    return replace(summary, through=max(summary.through, state.work.step))
