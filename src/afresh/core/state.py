"""A task as it is now: the fold of its journal, in parts. Bounded, whatever the number of steps."""

from collections.abc import Iterable

from afresh.core.event import JournalHead
from afresh.core.fast_dataclass import dataclass
from afresh.core.open_goal import remove_finished_items
from afresh.core.states.ceiling_state import TokenLimits, compute_highest_ceiling
from afresh.core.states.dialogue_state import DialogueState
from afresh.core.states.memory_state import MemoryState
from afresh.core.states.queue_state import NO_ATTEMPTS, AttemptState, QueuePlace, TicketMarks
from afresh.core.states.token_state import TokenState
from afresh.core.states.verification_state import VerificationState
from afresh.core.states.work_state import WorkState
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.task import DISCOVERY_TYPE, Task, TaskStatus, TicketDetail
from afresh.core.text import format_count
from afresh.core.usage import NO_CALL_COSTS, CallCosts, Usage
from afresh.core.verdict import FailedTest, is_spoken_of

EMPTY_HEAD = JournalHead()
CHECKPOINT_PERCENT = 60
"""Of the steps, and of a call's ceiling."""


@dataclass(frozen=True, slots=True)
class TaskTimes:
    """In seconds since the epoch."""

    started: float = 0.0
    updated: float = 0.0
    checkpointed: float = 0.0
    """When the last checkpoint was written, and after which step; before the first one, when the work began."""
    checkpoint_step: int = 0
    log_lines: int = 0
    """Lines of the decision log so far: shows whether the log is torn without reading the journal."""
    checkpoints: int = 0
    claims: int = 0
    """How often a checkpoint was written, and how often a worker has taken up the task."""
    crowded: bool = False
    """A checkpoint has been written since a prompt filled `CHECKPOINT_PERCENT` of what it might have had."""
    called: float = 0.0
    """When the last prompt was answered."""
    attempts: AttemptState = NO_ATTEMPTS
    """When attempts failed, and when it is tried again."""


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class SpendingState:
    """Tokens and money that calls have used."""

    usage: Usage = NO_USAGE
    costs: CallCosts = NO_CALL_COSTS
    calls: int = 0
    reviews: int = 0
    """Calls among them that read whether a change of a test was asked for."""

    @property
    def calls_told(self) -> str:
        reviews = f" ({format_count(self.reviews, 'review')} of changed tests)" if self.reviews else ""
        return format_count(self.calls, "call") + reviews


NEW_TIMES = TaskTimes()
NEW_WORKSPACE = WorkspaceState()
NEW_VERIFICATION = VerificationState()
NEW_WORK = WorkState()
NEW_DIALOGUE = DialogueState()
NEW_MEMORY = MemoryState()
NEW_TOKENS = TokenState()
NEW_SPENDING = SpendingState()


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Everything that is known of a task, derived from its journal."""

    task: Task
    head: JournalHead = EMPTY_HEAD
    status: TaskStatus = TaskStatus.READY
    worker: str = ""
    times: TaskTimes = NEW_TIMES
    workspace: WorkspaceState = NEW_WORKSPACE
    verification: VerificationState = NEW_VERIFICATION
    work: WorkState = NEW_WORK
    dialogue: DialogueState = NEW_DIALOGUE
    memory: MemoryState = NEW_MEMORY
    tokens: TokenState = NEW_TOKENS
    spending: SpendingState = NEW_SPENDING

    @property
    def is_running(self) -> bool:
        return self.status is TaskStatus.RUNNING

    @property
    def budget(self) -> int:
        """The ceiling in force."""
        return self.tokens.ceiling.budget or self.task.budget

    @property
    def limits(self) -> TokenLimits:
        """The limits of a call, as every screen shows them."""
        last = self.tokens.last_call
        highest = compute_highest_ceiling(self.task, last.window) if last.window else self.task.budget_limit
        return TokenLimits(self.task.budget, last.budget or self.task.budget, max(highest, last.budget))

    @property
    def is_crowded(self) -> bool:
        """Whether the last prompt filled `CHECKPOINT_PERCENT` of what it might have had."""
        return self.tokens.last_call.fill >= CHECKPOINT_PERCENT / 100

    @property
    def persons_goal(self) -> str:
        """The goal as far as it is an order: that of a part is a model's own, the title of an issue is of whoever wrote it."""
        if self.task.parent:
            return ""
        return self.task.goal.removeprefix(self.dialogue.issue.title) if self.dialogue.issue else self.task.goal

    @property
    def topic(self) -> str:
        """What the work is about: what is open of the goal, and the issue, which may name code and orders nothing."""
        goal = remove_finished_items(self.task.goal, self.work.plan)
        return f"{goal}\n{self.dialogue.issue.body}" if self.dialogue.issue else goal

    @property
    def contexts(self) -> int:
        """How often what the model knows was put together anew: a worker took the task up, or memory was compacted."""
        return self.times.attempts.taken + self.memory.compactions

    @property
    def place(self) -> QueuePlace:
        """When it has its turn."""
        return self.work.place or QueuePlace(self.task.priority, self.task.needs)

    @property
    def unconfined(self) -> bool:
        """Whether commands have run without a sandbox."""
        return any(decision.waives_sandbox for decision in self.memory.decisions)

    @property
    def phase(self) -> str:
        if not self.workspace.first_snapshot:
            return "prepare"
        if self.status.over:
            return "over"
        if not self.workspace.changed and (self.task.report or not self.workspace.tried):
            return self._looking_phase
        return "verify" if self.looks_done and not self.task.report else self.writing_phase

    @property
    def _looking_phase(self) -> str:
        """Before the first change that was tried, or before there is a report."""
        if self.task.judged_as != DISCOVERY_TYPE:
            return "understand"
        return "analyse" if self.work.plan else "scan"

    @property
    def writing_phase(self) -> str:
        """The phase that the first change begins."""
        if not self.task.report:
            return "change"
        return "synthesise" if self.task.judged_as == DISCOVERY_TYPE else "report"

    @property
    def failures(self) -> tuple[FailedTest, ...]:
        """What failed last and may be the task's: without tests that failed before and that the goal does not speak of."""
        known = self.verification
        runs = known.verdict.runs if known.verdict else known.baseline.runs if known.baseline else ()
        return select_task_failures([failure for run in runs for failure in run.failures], self.topic)

    @property
    def looks_done(self) -> bool:
        """Whether completion was refused, or the last checks pass and something beyond them says that the goal may be met."""
        verdict, baseline = self.verification.verdict, self.verification.baseline
        is_of_earlier_turn = self.dialogue.turn and self.verification.verdict_step <= self.dialogue.turn_step
        if verdict is None or baseline is None or is_of_earlier_turn:
            return False
        if verdict.final:
            return True
        turned_green = any(run.exit for run in baseline.runs) and not any(run.exit for run in verdict.runs)
        plan_done = bool(self.work.plan) and all(item.done for item in self.work.plan)
        reached_zero = baseline.measure > 0 and verdict.measure == 0
        return self.verification.is_green and (turned_green or plan_done or reached_zero)

    @property
    def phase_step(self) -> int:
        """Which step of its phase the next one is."""
        return dict(self.work.phase_steps).get(self.phase, 0) + 1


def select_task_failures(failures: Iterable[FailedTest], topic: str) -> tuple[FailedTest, ...]:
    return tuple([failure for failure in failures if not failure.failed_before or is_spoken_of(failure, topic)])


def make_ticket_marks(state: State) -> TicketMarks:
    place, attempts = state.place, state.times.attempts
    failure = attempts.failures[-1].what if attempts.retry_at and attempts.failures else ""
    told = (attempts.failed, attempts.retry_at, failure, state.dialogue.turn > 0)
    return TicketMarks(place.labels, place.due, place.project, place.hold, *told)


def make_ticket_detail(state: State) -> TicketDetail:
    work, dialogue, verdict = state.work, state.dialogue, state.verification.verdict
    ruling = verdict.ruling.value if verdict else ""
    told = (dialogue.question, dialogue.options, ruling, work.outcome, state.workspace.start.follows)
    return TicketDetail(work.step, work.limit, state.times.updated, *told)
