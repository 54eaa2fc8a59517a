"""What happened, in the past tense; appended, never edited. A step is two commits: Requested + Replied, then all the rest."""

from afresh.core.action import Observation
from afresh.core.archived_block import BlockIndexLine
from afresh.core.change import Hunk
from afresh.core.decision import Decision
from afresh.core.fact import Fact
from afresh.core.fast_dataclass import dataclass
from afresh.core.leave import ChangeReviewed, Grant, LeaveGiven
from afresh.core.lesson import LessonLearnt, LessonsLookedUp, LessonsUsed, LessonWorded
from afresh.core.line_region import Region
from afresh.core.notebook import NOTEBOOK_EVENT_CLASS_BY_TAG, NotebookEvent
from afresh.core.prompt import UNKNOWN_ORIGIN, CallAudit, PromptOrigin
from afresh.core.reply import Reply
from afresh.core.states.ceiling_state import CeilingChanged, LargerCeilingRequested, LimitsOrdered
from afresh.core.states.network_state import NetworkUsed, PermissionsChanged
from afresh.core.states.progress_state import StallNoticed, StepMark, VerifiedProgress
from afresh.core.states.queue_state import QUEUE_EVENT_TAGS, QueueEvent
from afresh.core.states.strategy_state import PlanItem, StrategyChanged
from afresh.core.states.supervision_state import (
    PersonSpoke,
    RecoveredFromCheckpoint,
    StepsUndone,
    SupervisionModeSet,
    TurnBegan,
)
from afresh.core.step_history import Passage, Summary
from afresh.core.subtask import SubtaskReturned
from afresh.core.task import IssueAttached, StartChosen, Task, TaskStatus
from afresh.core.token_calibration import CalibrationLoaded, CeilingBreached, TokensCounted, UsageReportDoubted
from afresh.core.verdict import Baseline, Verdict


@dataclass(frozen=True, slots=True)
class TaskCreated:
    task: Task


@dataclass(frozen=True, slots=True)
class TaskClaimed:
    """A worker took the task. It moves the head, so whoever held the task before can write no more."""

    worker: str


@dataclass(frozen=True, slots=True)
class WorkspaceOpened:
    base: str
    """Commit of the user's repository that the work starts from."""
    branch: str
    snapshot: str
    note: str = ""
    obeyed: tuple[str, ...] = ()
    """Files and folders of the tree that the user's git runs or reads its settings from."""


@dataclass(frozen=True, slots=True)
class BaselineMeasured:
    baseline: Baseline


@dataclass(frozen=True, slots=True)
class CallRequested:
    step: int
    audit: CallAudit
    origin: PromptOrigin = UNKNOWN_ORIGIN


@dataclass(frozen=True, slots=True)
class ReplyReceived:
    step: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class ActionsExecuted:
    step: int
    observations: tuple[Observation, ...]


@dataclass(frozen=True, slots=True)
class PlanSet:
    items: tuple[PlanItem, ...]


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    question: str
    options: tuple[str, ...] = ()
    """Each "option: what it would mean", or the option alone."""
    by: str = "model"
    """Or the harness, when it can't go on by itself."""
    about: tuple[Grant, ...] = ()
    """Changes of tests that the first option allows."""
    network: str = ""
    """A command that may use the network by the first two options."""
    limit: int = 0
    """The highest limit that the first option allows: no prompt fits under the present one."""
    phase: str = ""
    """The phase that waits for a person's consent. An answer ends the pause."""


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """A person's own words, or those of the option that was chosen by its number."""

    text: str
    by: str = "person"
    """Their name, where it is known."""
    option: int = 0
    """Which of the options it is, counted from 1; 0 for words that are none of them."""


@dataclass(frozen=True, slots=True)
class DecisionMade:
    decision: Decision


@dataclass(frozen=True, slots=True)
class OutputDigested:
    facts: tuple[Fact, ...] = ()
    regions: tuple[Region, ...] = ()
    index: tuple[BlockIndexLine, ...] = ()
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class VerdictReached:
    step: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ChangeKeptOrReverted:
    """The workspace after the step: `snapshot` is the new one when kept, the one before when reverted."""

    step: int
    kept: bool
    snapshot: str
    changed: tuple[str, ...] = ()
    """All files that now differ from the base."""
    why: str = ""
    hunks: tuple[Hunk, ...] = ()
    put_back: tuple[str, ...] = ()
    """Files of which something was put back as at the base."""
    worked: bool = True
    """The step itself has changed something that was kept."""


@dataclass(frozen=True, slots=True)
class StepFinished:
    step: int
    outcome: str
    reverted: str = ""
    """What a reverted step had done."""
    mark: StepMark | None = None
    """What it leaves behind, if the task goes on or rests for another reason than its verdict."""
    gained: VerifiedProgress | None = None
    """Set only if what is verified has changed."""


@dataclass(frozen=True, slots=True)
class TaskEnded:
    """The task has come to rest in `status`; BLOCKED can go on later, the others are over."""

    status: TaskStatus
    reason: str
    commit: str = ""


@dataclass(frozen=True, slots=True)
class CheckpointWritten:
    """All that is known is written down in full, for whoever goes on from here. Always the last event of its commit."""

    step: int
    reason: str


@dataclass(frozen=True, slots=True)
class CompactionRequested:
    """The agent has come to the end of something: what lies behind it can be put away."""

    keep: str


@dataclass(frozen=True, slots=True)
class MemoryCompacted:
    """Memory let passages go and keeps a summary of them. Between steps, in one commit."""

    step: int
    by: str
    """`loop` when memory was nearly full, or `agent`."""
    gone: tuple[int, ...]
    """Their places among the passages of the state."""
    summary: Summary
    tokens_won: int  # roughly: four characters of passages each
    reply: Reply | None = None
    """What a model wrote, if one was asked; paid for, whether it was used or not."""
    note: str = ""
    """Why what the model wrote was not used, and what a hook had to say."""


TaskEvent = (
    TaskCreated | TaskClaimed | WorkspaceOpened | BaselineMeasured | CallRequested | ReplyReceived | ActionsExecuted
    | PlanSet | QuestionAsked | QuestionAnswered | DecisionMade | OutputDigested | VerdictReached | ChangeKeptOrReverted
    | StepFinished | TaskEnded | CalibrationLoaded | CeilingBreached | UsageReportDoubted | LargerCeilingRequested
    | CeilingChanged | CheckpointWritten | CompactionRequested | MemoryCompacted | IssueAttached
    | LessonsLookedUp | LessonsUsed | LessonWorded | LessonLearnt | TokensCounted
    | StrategyChanged | SupervisionModeSet | PersonSpoke | StepsUndone | SubtaskReturned
    | StallNoticed | RecoveredFromCheckpoint | LeaveGiven | ChangeReviewed | QueueEvent | StartChosen | TurnBegan
    | LimitsOrdered | PermissionsChanged | NetworkUsed
)  # fmt: skip


Event = TaskEvent | NotebookEvent
_LOGGED_EVENTS = frozenset({
    QuestionAsked, QuestionAnswered, DecisionMade, ChangeKeptOrReverted, TaskEnded, CeilingBreached, UsageReportDoubted,
    CeilingChanged, CheckpointWritten, MemoryCompacted, StrategyChanged, PersonSpoke, StepsUndone, RecoveredFromCheckpoint,
    ChangeReviewed, StallNoticed,
})  # fmt: skip


def is_in_decision_log(event: Event) -> bool:
    """Whether the decision log has a line for it."""
    if isinstance(event, VerdictReached):
        return event.verdict.final
    if isinstance(event, PlanSet):
        return bool(event.items) and not any(item.done for item in event.items)
    return type(event) in _LOGGED_EVENTS


TASK_EVENT_CLASS_BY_TAG: dict[str, type[TaskEvent]] = {
    "Created": TaskCreated,
    "Claimed": TaskClaimed,
    "Opened": WorkspaceOpened,
    "Baselined": BaselineMeasured,
    "Requested": CallRequested,
    "Replied": ReplyReceived,
    "Acted": ActionsExecuted,
    "Planned": PlanSet,
    "Asked": QuestionAsked,
    "Answered": QuestionAnswered,
    "Decided": DecisionMade,
    "Digested": OutputDigested,
    "Verified": VerdictReached,
    "Settled": ChangeKeptOrReverted,
    "Finished": StepFinished,
    "Ended": TaskEnded,
    "Calibrated": CalibrationLoaded,
    "Breached": CeilingBreached,
    "Doubted": UsageReportDoubted,
    "Wanted": LargerCeilingRequested,
    "Rebudgeted": CeilingChanged,
    "LimitsOrdered": LimitsOrdered,
    "Checkpointed": CheckpointWritten,
    "CompactionWanted": CompactionRequested,
    "Compacted": MemoryCompacted,
    "Consulted": LessonsLookedUp,
    "Referred": LessonsUsed,
    "Worded": LessonWorded,
    "Learnt": LessonLearnt,
    "Weighed": TokensCounted,
    "Turned": StrategyChanged,
    "Attended": SupervisionModeSet,
    "Spoke": PersonSpoke,
    "Undone": StepsUndone,
    "HandedOut": SubtaskReturned,
    "Noticed": StallNoticed,
    "Recovered": RecoveredFromCheckpoint,
    "LeaveGiven": LeaveGiven,
    "Reviewed": ChangeReviewed,
    "StartChosen": StartChosen,
    "TurnBegan": TurnBegan,
    "IssueAttached": IssueAttached,
    "PermissionsChanged": PermissionsChanged,
    "NetworkUsed": NetworkUsed,
    **QUEUE_EVENT_TAGS,
}
"""The tag of each kind on disk. A class may be renamed; its tag never changes, or journals could not be read any more."""
EVENT_CLASS_BY_TAG: dict[str, type[Event]] = TASK_EVENT_CLASS_BY_TAG | NOTEBOOK_EVENT_CLASS_BY_TAG
TAG_BY_EVENT_CLASS: dict[type[Event], str] = {kind: tag for tag, kind in EVENT_CLASS_BY_TAG.items()}


@dataclass(frozen=True, slots=True)
class JournalHead:
    """Where a task's journal ends."""

    seq: int = 0
    hash: str = ""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An event in its place in a task's journal."""

    task: str
    seq: int
    at: float
    event: Event
    body: str
    """The canonical JSON that was hashed; kept so that what is stored is what was hashed."""
    hash: str
