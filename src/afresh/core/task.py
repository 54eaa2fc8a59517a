"""The order of a task, never changed afterwards."""

import re
from collections.abc import Mapping
from enum import StrEnum

from afresh.core.fast_dataclass import dataclass
from afresh.core.refused_merge import RefusedMerge
from afresh.core.states.queue_state import NO_MARKS, TicketMarks
from afresh.errors import BadInput


class TaskStatus(StrEnum):
    READY = "ready"
    RUNNING = "running"
    BLOCKED = "blocked"
    DONE = "done"
    FAILED = "failed"
    UNCHANGED = "unchanged"
    """There was nothing to do, or nothing that could be offered: no file differs."""
    APPLIED = "applied"
    DISCARDED = "discarded"
    """A person has ended it, and its work is gone."""

    @property
    def over(self) -> bool:
        return self in (
            TaskStatus.DONE,
            TaskStatus.FAILED,
            TaskStatus.UNCHANGED,
            TaskStatus.APPLIED,
            TaskStatus.DISCARDED,
        )

    @property
    def closed(self) -> bool:
        """Whether a person has applied or discarded it: nothing is left to do."""
        return self in (TaskStatus.APPLIED, TaskStatus.DISCARDED)

    @property
    def satisfies(self) -> bool:
        """Whether tasks that need this one can begin."""
        return self in (TaskStatus.DONE, TaskStatus.UNCHANGED, TaskStatus.APPLIED)

    @property
    def retried(self) -> bool:
        """Whether a person can have it tried again."""
        return self in (TaskStatus.FAILED, TaskStatus.DISCARDED)


RECORDED_TYPE = "recorded"
"""Type of a task that another agent worked on: nothing of it is checked here."""


@dataclass(frozen=True, slots=True)
class Check:
    """A success criterion: a command that must exit 0 in the task's tree."""

    command: str
    timeout: int = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task as ordered."""

    id: str
    goal: str
    type: str = "implement_feature"
    checks: tuple[Check, ...] = ()
    priority: int = 0
    """Higher goes first."""
    needs: tuple[str, ...] = ()
    """Tasks that must be done (verified) before this one is ready."""
    model: str = ""
    budget: int = 4_000
    """Ceiling in tokens for each call: system, tools, messages and the reply's reserve."""
    max_steps: int = 60
    project: str = ""
    family: str = ""
    """The shipped type that a user's own type builds on."""
    report: str = ""
    """The one file that the task may write, for types that end in a document."""
    loop: str = ""
    """react or plan_execute; empty: as the template of the type has it."""
    max_budget: int = 0
    """The highest ceiling that may be granted when there is a reason; 0: four times `budget`."""
    parent: str = ""
    """The task that this is a part of: it is worked on with that one, and what it makes belongs to it."""
    tree: str = ""
    """The snapshot of the parent that a part begins with."""
    parts: int = 0
    """How many parts of it the task may hand out."""
    thinking: int | None = None
    """Tokens that the model may think with in each call; None: as the type says."""
    require_tests: bool = False
    """PASS needs a new test that passes."""
    tools: tuple[str, ...] = ()
    """Tools of MCP servers that it may use: SERVER or SERVER.TOOL."""
    attended: bool = False
    """Whoever ordered it watches it run, and takes its result: no worker merges that."""

    @property
    def judged_as(self) -> str:
        """The type whose rules the harness applies: a user's own type lays out windows, it does not judge."""
        return self.family or self.type

    @property
    def budget_limit(self) -> int:
        return self.max_budget or 4 * self.budget


@dataclass(frozen=True, slots=True)
class TaskStart:
    """The start of a task that does not begin with HEAD."""

    base: str = ""
    """The commit; empty: HEAD when its tree is first opened."""
    carried: str = ""
    """The commit of uncommitted changes of the checkout, which `base` is or builds on. They are the user's, not the task's."""
    follows: str = ""
    """The task whose result it goes on from."""
    goal: str = ""
    """Of that task."""
    outcome: str = ""
    refused: RefusedMerge | None = None
    """The result that it brings in, since it could not be merged."""

    @property
    def includes(self) -> str:
        """The task whose result comes in with this one."""
        return self.refused.task if self.refused else self.follows


START_AT_HEAD = TaskStart()


@dataclass(frozen=True, slots=True)
class StartChosen:
    """The task begins with something else than HEAD. Recorded with its order."""

    start: TaskStart


@dataclass(frozen=True, slots=True)
class Issue:
    """A text from an issue tracker. Anybody may have written it: it says what the work is about, and orders nothing."""

    title: str
    body: str = ""
    number: int = 0
    """0: not known."""
    url: str = ""
    source: str = ""
    """The file and line of a list that it comes from."""

    @property
    def name(self) -> str:
        text = " ".join(part for part in (f"#{self.number}" if self.number else "", self.url) if part)
        return text or self.source or "without a number"


@dataclass(frozen=True, slots=True)
class IssueAttached:
    """The task is about this issue. Recorded with its order."""

    issue: Issue


@dataclass(frozen=True, slots=True)
class TicketDetail:
    """What a list shows of a task beyond its order. It is kept with the ticket, so that a list loads no state."""

    step: int
    limit: int
    """Steps that are allowed."""
    updated: float
    """Time of the last event."""
    question: str = ""
    options: tuple[str, ...] = ()
    ruling: str = ""
    """The last ruling; empty: no verdict yet."""
    outcome: str = ""
    follows: str = ""
    """The task whose result it goes on from."""


@dataclass(frozen=True, slots=True)
class UnmetNeed:
    """A task that another one waits for."""

    task: str
    status: TaskStatus | None = None
    """None: the task does not exist."""


@dataclass(frozen=True, slots=True)
class QueueTicket:
    """A task's line in the queue; kept by the store in the same commit as the journal, so that they cannot disagree."""

    task: str
    goal: str
    type: str
    status: TaskStatus
    priority: int
    needs: tuple[str, ...]
    ready: bool
    """A worker could take it now: begun or not, nobody has it or holds it back, and it waits for nothing."""
    owner: str = ""
    """Worker that holds a live lease."""
    parent: str = ""
    """The task that it is a part of; such a one is never ready by itself."""
    detail: TicketDetail | None = None
    """None: the task must be loaded to know it."""
    unmet: tuple[UnmetNeed, ...] = ()
    """The tasks that it needs and that are not done."""
    marks: TicketMarks = NO_MARKS

    @property
    def waits_for_retry(self) -> bool:
        """Whether only time keeps it from being tried again."""
        return bool(self.marks.retry_at) and not (self.owner or self.unmet or self.marks.hold or self.status.over)

    @property
    def waits_for_message(self) -> bool:
        """Whether it is a conversation, which goes on when a person says so."""
        open = self.status in (TaskStatus.READY, TaskStatus.RUNNING)
        return self.marks.conversation and open and not (self.owner or self.unmet or self.marks.hold or self.parent)

    @property
    def can_be_named(self) -> bool:
        """Whether a worker that names it may take it now."""
        return self.ready or self.waits_for_retry or self.waits_for_message


class TicketOrder(StrEnum):
    QUEUE = "queue"
    """As they came in."""
    NEWEST = "newest"
    """The one that came in last first."""
    TOUCHED = "touched"
    """The one with the latest event first."""
    DUE = "due"
    """The one that is due first first; those without a due time last."""
    TURN = "turn"
    """As their turn comes: those that wait for others last, then by priority, then as they came in."""


@dataclass(frozen=True, slots=True)
class TicketQuery:
    """Which tickets are asked for."""

    statuses: tuple[TaskStatus, ...] = ()
    """Empty: any."""
    prefix: str = ""
    """How the id begins."""
    part: str = ""
    """What the id contains, in capitals or not."""
    parents: tuple[str, ...] | None = None
    """Parts of these tasks; empty: tasks that are no part; None: tasks and parts."""
    order: TicketOrder = TicketOrder.QUEUE
    most: int = 0
    """0: all that fit."""
    labels: tuple[str, ...] = ()
    project: str = ""
    due_before: float = 0.0
    """Only tasks due before this time; 0: all."""


ALL_TICKETS = TicketQuery()


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """Tasks by status, in the order in which the statuses first appear in the queue; parts are not counted."""

    by_status: Mapping[TaskStatus, int]
    questions: int = 0
    """Tasks that wait for an answer."""
    waiting: int = 0
    """Of the ready and running ones: those that wait for others or their next attempt, or that a person has blocked or paused."""


FIX_BUG_TYPE = "fix_bug"
FIX_VIOLATION_TYPE = "fix_violation"
"""The type whose purpose is to lower what is counted."""
WRITE_TESTS_TYPE = "write_tests"
REFACTOR_TYPE = "refactor"
TYPES_WITHOUT_NEW_TESTS = (REFACTOR_TYPE, FIX_VIOLATION_TYPE)
"""Types that `require_tests` does not concern: they keep behaviour as it is."""
SPEC_DESIGN_TYPE = "spec_design"
DISCOVERY_TYPE = "discovery"
"""The type that may speak of files that do not exist yet."""

NOTHING_CHANGED = "nothing was changed"


def check_task_id(task_id: str) -> str:
    """The id, if it can be the name of a folder and of a branch."""
    fits = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", task_id)
    if not fits or ".." in task_id or task_id.endswith((".", ".lock")):
        raise BadInput(
            f"{task_id!r} can't be the id of a task", next="use letters, digits, '-', '_' and '.'", safe=NOTHING_CHANGED
        )
    return task_id


def name_briefly(task: str) -> str:
    """The hash at the end of an id, by which commands find the task; of a subtask with what follows."""
    match = re.search(r"[0-9a-f]{8,}(-\d+-\d+)*$", task)
    return match[0] if match else task


def describe_worker(worker: str, here: str = "") -> str:
    """Describe who holds a task, by the id of the worker. `here`: the name of this machine."""
    host, place = ["", "", *worker.split(":")[:2]][-2:]
    process, name = place.partition(".")[0], host.rpartition("-")[0] or host  # behind the dot: the thread
    if not (process.isdigit() and name):
        return worker
    return f"process {process} on {'this machine' if name == here.replace(':', '-') else name}"
