"""A task as it stands: the fold of its journal. Bounded, whatever the number of steps."""

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

from afresh.core.action import Observation
from afresh.core.block import BlockIndexLine
from afresh.core.ceiling_state import CallFigures, CeilingState, ToolTokenCost
from afresh.core.decision import UNSANDBOXED_DECISION, Decision
from afresh.core.fact import Fact
from afresh.core.journal_head import JournalHead
from afresh.core.lesson import INITIAL_LESSON_STATE, LessonState
from afresh.core.progress_state import INITIAL_PROGRESS, ProgressState
from afresh.core.region import Region
from afresh.core.reply import Reply, ReturnedReply
from afresh.core.step_history import Passage, Summary
from afresh.core.strategy_state import INITIAL_STRATEGY, PlanItem, StrategyState
from afresh.core.subtask import SubtaskResult
from afresh.core.supervision_state import INITIAL_SUPERVISION, SupervisionState
from afresh.core.task import Task, TaskStatus, TicketDetail
from afresh.core.token_calibration import TokenCalibration
from afresh.core.usage import NO_CALL_COSTS, CallCosts, Usage
from afresh.core.verdict import Baseline, Ruling, Verdict

EMPTY_HEAD = JournalHead()
NO_USAGE = Usage()
NO_CALL_FIGURES = CallFigures()
INITIAL_CEILING = CeilingState()
EMPTY_SUMMARY = Summary()
REVERTED_INFIX = ": reverted: "
"""Stands in the outcome of a step that was undone, between what was done and why."""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A finished step, as later windows may tell it."""

    step: int
    thought: str
    observations: tuple[Observation, ...]
    outcome: str
    kept: bool


@dataclass(frozen=True, slots=True)
class PendingReply:
    """A reply that has been paid for and not yet acted on to the end."""

    step: int
    reply: Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Everything that is known of a task, derived from its journal."""

    task: Task
    head: JournalHead = EMPTY_HEAD
    status: TaskStatus = TaskStatus.READY
    started: float = 0.0
    updated: float = 0.0
    checkpointed: float = 0.0
    """When the last checkpoint was written, and after which step; before the first one, when the work began."""
    checkpoint_step: int = 0
    worker: str = ""
    # the workspace
    base: str = ""
    branch: str = ""
    opened: str = ""
    """Snapshot before the first change."""
    snapshot: str = ""
    """Snapshot of the last settled step: where a resumed task starts."""
    note: str = ""
    commit: str = ""
    changed: tuple[str, ...] = ()
    last_change: int = 0
    """The last step that changed a file and was kept."""
    # verification
    baseline: Baseline | None = None
    verdict: Verdict | None = None
    verdict_step: int = 0
    refusals: int = 0
    """Times that the model said it was finished and the harness disagreed."""
    # the work
    step: int = 0
    """Steps finished."""
    limit: int = 0
    """Steps that are allowed; a person's answer allows more."""
    spent: tuple[tuple[str, int], ...] = ()
    """Steps begun in each phase, since the last word of a person."""
    pending: PendingReply | None = None
    plan: tuple[PlanItem, ...] = ()
    planned: int = 0
    """The step in which the plan was set last."""
    facts: tuple[Fact, ...] = ()
    decisions: tuple[Decision, ...] = ()
    words: tuple[str, ...] = ()
    """What the user said after the goal, verbatim."""
    question: str = ""
    options: tuple[str, ...] = ()
    asked_by: str = ""
    """Who has asked the open question: the model or the harness."""
    recent: tuple[StepRecord, ...] = ()
    returned: ReturnedReply | None = None
    """The last reply, if it is short enough to go back to its model as it was."""
    regions: tuple[Region, ...] = ()
    index: tuple[BlockIndexLine, ...] = ()
    archived: int = 0
    """Outputs that can be recalled."""
    passages: tuple[Passage, ...] = ()
    """What is remembered line by line of the steps so far; the text is in the archive."""
    forgotten: int = 0
    """Passages that memory had no room for any more; they are in the archive."""
    summary: Summary = EMPTY_SUMMARY
    """What is left of them in words."""
    compactions: int = 0
    keep: str = ""
    """The agent has asked for a compaction, and says what is to be kept."""
    knowledge: LessonState = INITIAL_LESSON_STATE
    loop: StrategyState = INITIAL_STRATEGY
    attendance: SupervisionState = INITIAL_SUPERVISION
    delegated: tuple[SubtaskResult, ...] = ()
    """What came back of the parts that were handed out; at most as many as the task allows."""
    # counts
    usage: Usage = NO_USAGE
    bill: CallCosts = NO_CALL_COSTS
    calls: int = 0
    kept: int = 0
    reverted: int = 0
    largest: int = 0
    """Tokens of the largest window so far."""
    logged: int = 0
    """Lines of the decision log so far: tells a torn log from a whole one without reading the journal."""
    outcome: str = ""
    # the ceiling
    room: CeilingState = INITIAL_CEILING
    reading: CallFigures = NO_CALL_FIGURES
    """The figures of the last call."""
    weighed: int = 0
    """The last step whose window the provider has counted before it was sent, and found to fit."""
    meters: tuple[TokenCalibration, ...] = ()
    costs: tuple[ToolTokenCost, ...] = ()
    course: ProgressState = INITIAL_PROGRESS
    """Whether the work moves."""

    @property
    def budget(self) -> int:
        """The ceiling in force."""
        return self.room.budget or self.task.budget

    @property
    def unconfined(self) -> bool:
        """Whether commands have run without a sandbox."""
        return any(decision.text == UNSANDBOXED_DECISION and decision.by == "person" for decision in self.decisions)

    @property
    def phase(self) -> str:
        if not self.opened or self.baseline is None:
            return "prepare"
        if self.status.over:
            return "over"
        if not self.changed:
            return "understand"
        if self.task.report:
            return "report"
        return "verify" if self._looks_done else "change"

    @property
    def _looks_done(self) -> bool:
        """Completion was refused, or what ran last exits 0 and something beyond it says that the goal may be met."""
        if self.verdict is None or self.baseline is None:
            return False
        if self.verdict.final:
            return True
        green = bool(self.verdict.runs) and self.verdict.ruling is Ruling.PASS and not any(run.exit for run in self.verdict.runs)
        was_red = any(run.exit for run in self.baseline.runs)
        planned = bool(self.plan) and all(item.done for item in self.plan)
        counted = self.baseline.measure > 0 and self.verdict.measure == 0
        return green and (was_red or planned or counted)

    @property
    def phase_step(self) -> int:
        """Which step of its phase the next one is."""
        return dict(self.spent).get(self.phase, 0) + 1


def make_ticket_detail(state: State) -> TicketDetail:
    ruling = state.verdict.ruling.value if state.verdict else ""
    return TicketDetail(state.step, state.limit, state.updated, state.question, state.options, ruling, state.outcome)


_FIELD_NAMES = tuple(field.name for field in fields(State))
_get_field_values = attrgetter(*_FIELD_NAMES)


def replace_fields(state: State, **changes: Any) -> State:
    """As `dataclasses.replace`, in a third of the time: every event that is loaded does this once."""
    return State(**(dict(zip(_FIELD_NAMES, _get_field_values(state), strict=True)) | changes))
