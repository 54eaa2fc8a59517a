"""Reads steps of a task from its journal, a page at a time: the work depends on what is shown, not on how long the task is."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from afresh.app.project import Project
from afresh.app.results.read_task_diff import list_snapshot_changes
from afresh.core.change import Change
from afresh.core.event import (
    ActionsExecuted,
    CallRequested,
    ChangeKeptOrReverted,
    JournalEntry,
    OutputDigested,
    ReplyReceived,
    StepFinished,
    VerdictReached,
    WorkspaceOpened,
)
from afresh.core.fact import Fact
from afresh.core.prompt import CallAudit
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.states.supervision_state import StepsUndone
from afresh.core.step_record import StepRecord, find_first_fate, mark_step_undone, record_keeping, record_verdict
from afresh.core.verdict import Verdict
from afresh.views.decision_log import DecisionLine, list_decisions
from afresh.views.step_line import StepSummary, make_step_line


@dataclass(frozen=True, slots=True)
class StepDetails:
    """A step with all that was recorded of it."""

    step: int
    at: float
    call: CallAudit
    reply: Reply | None = None
    record: StepRecord | None = None
    """None until something was done."""
    verdict: Verdict | None = None
    keeping: ChangeKeptOrReverted | None = None
    before: str = ""
    """Snapshot of the tree when the step began."""
    facts: tuple[Fact, ...] = ()

    @property
    def summary(self) -> StepSummary | None:
        return make_step_line(self.record) if self.record else None


@dataclass(frozen=True, slots=True)
class StepPage:
    steps: tuple[StepDetails, ...]
    lines: tuple[DecisionLine, ...]
    """The decision log of these steps."""


def iterate_step_entries(project: Project, task: str, first: int, last: int | None = None) -> Iterator[JournalEntry]:
    """Yield the entries of some steps: from the call of the first, or the journal's beginning, to the call after the last."""
    start = (project.store.find_step(task, first),) if first > 1 else ()
    for entry in project.store.journal(task, *start):
        if last is not None and isinstance(entry.event, CallRequested) and entry.event.step > last:
            return
        yield entry


def read_step_page(project: Project, task: str, first: int, last: int) -> StepPage:
    """Read these steps. The one before is read, too: it says what the tree was like."""
    entries = list(iterate_step_entries(project, task, first - 1, last))
    steps = tuple(step for step in collect_steps(entries) if step.step >= first)
    lines = tuple(line for line in list_decisions(entries, max(0, first - 2)) if line["step"] >= first or first <= 1)
    return StepPage(steps, lines)


def collect_steps(entries: Iterable[JournalEntry]) -> list[StepDetails]:
    """Put the events of each step together. A step that was called for twice, after a crash, is one."""
    steps, snapshot = dict[int, StepDetails](), ""
    for entry in entries:
        match entry.event:
            case CallRequested(step, audit):
                steps[step] = StepDetails(step, entry.at, audit, before=snapshot)
            case WorkspaceOpened():
                snapshot = entry.event.snapshot
            case StepsUndone():
                snapshot = entry.event.snapshot
                steps = {number: _undo_step(one, entry.event) for number, one in steps.items()}
            case OutputDigested(facts) if steps:
                newest = max(steps)
                steps[newest] = replace(steps[newest], facts=(*steps[newest].facts, *facts))
            case ReplyReceived(step) | ActionsExecuted(step) | VerdictReached(step) | StepFinished(step) if step in steps:
                steps[step] = _extend_step(steps[step], entry)
            case ChangeKeptOrReverted(step):
                if step in steps:
                    steps[step] = _extend_step(steps[step], entry)
                snapshot = entry.event.snapshot
            case _:
                pass
    return [steps[step] for step in sorted(steps)]


def _extend_step(one: StepDetails, entry: JournalEntry) -> StepDetails:
    record = one.record
    match entry.event:
        case ReplyReceived(_, reply):
            return replace(one, reply=reply)
        case ActionsExecuted(step, observations):
            thought = one.reply.thought if one.reply else ""
            made = StepRecord(step, thought, observations, "", True, fate=find_first_fate(observations))
            return replace(one, record=made)
        case VerdictReached(_, verdict):
            return replace(one, verdict=verdict, record=record and record_verdict(record, verdict))
        case ChangeKeptOrReverted() as keeping:
            return replace(one, keeping=keeping, record=record and record_keeping(record, keeping, one.before))
        case StepFinished(_, outcome):
            return replace(one, record=record and replace(record, outcome=outcome))
        case _:
            return one


def _undo_step(step: StepDetails, event: StepsUndone) -> StepDetails:
    return replace(step, record=mark_step_undone(step.record, event)) if step.record and step.step >= event.step else step


def list_step_changes(root: Path, state: State, step: StepDetails) -> Sequence[Change]:
    """Return what a step has changed and kept, file by file."""
    after = step.keeping.snapshot if step.keeping and step.keeping.kept else step.before
    return list_snapshot_changes(root, state, step.before, after) if step.before and after else ()
