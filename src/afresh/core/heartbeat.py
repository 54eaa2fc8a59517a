"""A heartbeat: a checklist of what is watched, what its last outputs were, and the events of both that the notebook keeps."""

from collections.abc import Mapping
from dataclasses import field, replace
from hashlib import sha256
from types import MappingProxyType

from afresh.core.fast_dataclass import dataclass
from afresh.core.schedule import Schedule

MAX_HEARTBEAT_TOKENS = 2_000
"""Tokens of a call, its reply included. No file can allow more."""
MINUTES_PER_DAY = 24 * 60
KEY_CHARACTERS = 12


@dataclass(frozen=True, slots=True)
class HeartbeatItem:
    text: str
    command: str = ""
    """Empty: the item is about new commits."""

    @property
    def key(self) -> str:
        return sha256(f"{self.text}\n{self.command}".encode()).hexdigest()[:KEY_CHARACTERS]


@dataclass(frozen=True, slots=True)
class HeartbeatPlan:
    """The checklist of a repository, as `.afresh/HEARTBEAT.md` has it."""

    items: tuple[HeartbeatItem, ...] = ()
    every: int = 1_800
    """Seconds."""
    active: tuple[int, int] = (0, MINUTES_PER_DAY)
    """From and until which minute of the day; over midnight if the first is larger."""
    model: str = ""
    """A name of the user's models."""
    limit: int = MAX_HEARTBEAT_TOKENS
    skip_when_busy: bool = False
    """Nothing runs while a task does."""

    def is_active(self, minute: int) -> bool:
        first, last = self.active
        return first <= minute < last if first <= last else minute >= first or minute < last


@dataclass(frozen=True, slots=True)
class ItemCheck:
    """The result of one item in one run."""

    item: str
    """The key of the item."""
    text: str
    output: str | None = None
    """The new output, if it differs from the last one or is the first."""
    changed: bool = False
    announcement: str = ""
    """The model's message to a person; empty: none."""
    tokens: int = 0
    cost: int | None = None
    """Nano-dollars of the call."""
    note: str = ""
    """Why it was not checked or not judged."""

    @property
    def was_checked(self) -> bool:
        return self.changed or self.output is not None or not self.note

    @property
    def waits_for_model(self) -> bool:
        """It changed, and no model could be asked: the next run asks again."""
        return self.changed and self.output is None


@dataclass(frozen=True, slots=True)
class HeartbeatBegan:
    """A worker has begun a run. No other begins one before it has ended or its process is dead."""

    worker: str
    at: float


@dataclass(frozen=True, slots=True)
class HeartbeatEnded:
    at: float
    checks: tuple[ItemCheck, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class HeartbeatPaused:
    paused: bool
    by: str = ""


@dataclass(frozen=True, slots=True)
class ScheduleAdded:
    schedule: Schedule
    at: float


@dataclass(frozen=True, slots=True)
class ScheduleRemoved:
    schedule: str
    """The id of the schedule."""


@dataclass(frozen=True, slots=True)
class ScheduleFired:
    schedule: str
    served: float
    """All due times up to this moment are served by it."""
    task: str = ""
    note: str = ""
    """Why no task was added."""


HeartbeatEvent = HeartbeatBegan | HeartbeatEnded | HeartbeatPaused | ScheduleAdded | ScheduleRemoved | ScheduleFired
HEARTBEAT_EVENT_TAGS = {
    "HeartbeatBegan": HeartbeatBegan,
    "HeartbeatEnded": HeartbeatEnded,
    "HeartbeatPaused": HeartbeatPaused,
    "ScheduleAdded": ScheduleAdded,
    "ScheduleRemoved": ScheduleRemoved,
    "ScheduleFired": ScheduleFired,
}


@dataclass(frozen=True, slots=True)
class ItemState:
    """The results of an item over all its runs."""

    output: str | None = None
    checked: float = 0.0
    changed: float = 0.0
    """When its output last differed; 0: never."""
    calls: int = 0
    tokens: int = 0
    cost: int = 0
    announcement: str = ""
    """The announcement of its last change."""
    note: str = ""
    """The note of its last run."""


@dataclass(frozen=True, slots=True)
class ScheduleState:
    schedule: Schedule
    after: float
    """Up to when it was served, or when it was added."""
    task: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class HeartbeatState:
    paused: bool = False
    worker: str = ""
    """The worker that runs it now."""
    began: float = 0.0
    ran: float = 0.0
    """When the last run ended."""
    items: Mapping[str, ItemState] = field(default_factory=lambda: MappingProxyType({}))
    schedules: Mapping[str, ScheduleState] = field(default_factory=lambda: MappingProxyType({}))


def fold_heartbeat_event(state: HeartbeatState, event: object) -> HeartbeatState:
    """The state after this event; one of another part of afresh changes nothing."""
    match event:
        case HeartbeatBegan(worker, at):
            state = replace(state, worker=worker, began=at)
        case HeartbeatEnded(at, checks):
            items = dict(state.items)
            for check in checks:
                items[check.item] = _add_check(items.get(check.item, ItemState()), check, at)
            state = replace(state, worker="", ran=at, items=items)
        case HeartbeatPaused(paused):
            state = replace(state, paused=paused)
        case ScheduleAdded(schedule, at):
            state = replace(state, schedules={**state.schedules, schedule.id: ScheduleState(schedule, at)})
        case ScheduleRemoved(name):
            state = replace(state, schedules={id: one for id, one in state.schedules.items() if id != name})
        case ScheduleFired(name, served, task, note) if name in state.schedules:
            fired = replace(state.schedules[name], after=served, task=task, note=note)
            state = replace(state, schedules={**state.schedules, name: fired})
        case _:
            pass
    return state


def _add_check(known: ItemState, check: ItemCheck, at: float) -> ItemState:
    return ItemState(
        output=known.output if check.output is None else check.output,
        checked=at,
        changed=at if check.changed else known.changed,
        calls=known.calls + bool(check.tokens),
        tokens=known.tokens + check.tokens,
        cost=known.cost + (check.cost or 0),
        announcement=check.announcement if check.changed and not check.waits_for_model else known.announcement,
        note=check.note,
    )
