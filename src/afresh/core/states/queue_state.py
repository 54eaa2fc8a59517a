"""A task's place in the queue: when it has its turn, who holds it back, and the attempts that have failed."""

from enum import StrEnum

from afresh.core.fast_dataclass import dataclass


class HoldKind(StrEnum):
    PAUSED = "paused"
    INTERRUPTED = "interrupted"
    """Who ran it has stopped it with Ctrl-C: no worker takes it up behind their back."""


RELEASE_COMMANDS = {HoldKind.PAUSED: "release", HoldKind.INTERRUPTED: "resume"}
"""What ends a hold."""


@dataclass(frozen=True, slots=True)
class TaskHold:
    """A person keeps a task from being worked on until they release it."""

    kind: HoldKind
    reason: str = ""
    by: str = "person"


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """When a task has its turn, and what it is filed under."""

    priority: int = 0
    needs: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    due: float = 0.0
    """Seconds since the epoch; 0: no due time."""
    project: str = ""
    """Empty: that of the repository."""
    hold: TaskHold | None = None


FIRST_COME = QueuePlace()


@dataclass(frozen=True, slots=True)
class PlaceChanged:
    """A person has changed when the task has its turn, or what it is filed under. None: as it was."""

    needs: tuple[str, ...]
    by: str = "person"
    priority: int | None = None
    labels: tuple[str, ...] | None = None
    due: float | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True)
class HoldChanged:
    """A person holds the task back, or releases it."""

    hold: TaskHold | None
    by: str = "person"


class FailureCause(StrEnum):
    PROVIDER = "provider"
    GIT = "git"
    DISK = "disk"
    MACHINE = "machine"
    """Another passing fault here: a locked database, a process that can't be ended."""
    MODEL = "model"
    """The model that this task names: no such name, key, package or credit."""
    MERITS = "merits"
    """The task itself: it was given up, or its result was refused."""


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """An entry of the error log of a task."""

    at: float
    cause: FailureCause
    what: str
    retry_at: float = 0.0
    """When it is tried again; 0: not by itself."""


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """Work on the task stopped at a passing fault. It waits until `retry_at` and is then taken up where it was."""

    cause: FailureCause
    what: str
    retry_at: float


MAX_FAILURES_KEPT = 8
"""Most failures that a state keeps; the journal has them all."""


@dataclass(frozen=True, slots=True)
class AttemptState:
    """How often a task was taken up, and what came of it."""

    failures: tuple[TaskFailure, ...] = ()
    """The last ones, the oldest first."""
    failed: int = 0
    """Count of all failures."""
    streak: int = 0
    """Passing faults since the last finished step or word of a person."""
    retry_at: float = 0.0
    """When it is tried again; 0: whenever its turn comes."""
    taken: int = 0
    """How often a worker took it up that did not hold it before."""
    resumed: int = 0
    """How often a step ended, or the task did, after it was taken up again."""
    resuming: bool = False
    """It was resumed, and no step has ended since."""

    @property
    def resumes(self) -> int:
        """How often it was taken up again and it is known what came of it."""
        return max(0, self.taken - 1) - self.resuming


NO_ATTEMPTS = AttemptState()


@dataclass(frozen=True, slots=True)
class TicketMarks:
    """The marks of a ticket beside its place: labels, due time, project."""

    labels: tuple[str, ...] = ()
    due: float = 0.0
    project: str = ""
    """Empty: that of the repository."""
    hold: TaskHold | None = None
    failures: int = 0
    retry_at: float = 0.0
    failure: str = ""
    """The failure of the last attempt, while it waits for the next one."""
    conversation: bool = False
    """A person talks with it: no worker takes it up unless it is named."""


NO_MARKS = TicketMarks()


@dataclass(frozen=True, slots=True)
class WorkFigures:
    """How tasks came to their end, counted over all of them."""

    finished: int = 0
    in_one_context: int = 0
    """Of these, the ones that a single worker ended without compacting memory."""
    resumes: int = 0
    """How often a task was taken up again, after a crash, a stop or an answer."""
    resumed: int = 0
    """Of these, the ones after which a step or the task came to its end."""


class StopAct(StrEnum):
    PAUSE = "pause"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class StopRequest:
    """A person's request to the worker that holds a task."""

    act: StopAct
    reason: str = ""
    by: str = "person"


QueueEvent = PlaceChanged | HoldChanged | AttemptFailed
QUEUE_EVENT_TAGS = {
    "NeedsChanged": PlaceChanged,
    "Held": HoldChanged,
    "AttemptFailed": AttemptFailed,
}
QUEUE_EVENTS = tuple(QUEUE_EVENT_TAGS.values())
