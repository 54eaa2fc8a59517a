"""What a run does right now. Watchers are told as it happens; nothing of it is kept."""

from collections.abc import Callable
from enum import StrEnum
from typing import ClassVar

from afresh.core.action import Action
from afresh.core.change import Change
from afresh.core.fast_dataclass import dataclass
from afresh.core.spending import CallPurpose


@dataclass(frozen=True, slots=True)
class CallBegan:
    model: str
    purpose: CallPurpose


@dataclass(frozen=True, slots=True)
class ReplyStreamed:
    """A piece of the reply, as it comes in."""

    model: str
    text: str
    characters: int
    """Of the reply so far, with this piece."""
    spoken: bool = True
    """Words of the model, not a part of a tool call."""


@dataclass(frozen=True, slots=True)
class CallDelayed:
    """The call is made again, or waits for the provider."""

    why: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    model: str
    ok: bool


@dataclass(frozen=True, slots=True)
class ActionBegan:
    action: Action


@dataclass(frozen=True, slots=True)
class ActionEnded:
    action: Action
    ok: bool


@dataclass(frozen=True, slots=True)
class ChangeMade:
    """The changes of a step, before they are checked."""

    changes: tuple[Change, ...]


class CheckScope(StrEnum):
    BASELINE = "baseline"
    """All checks, before anything is changed."""
    CHANGE = "change"
    """The tests that concern a change."""
    COMPLETION = "completion"
    """Every check."""


@dataclass(frozen=True, slots=True)
class CheckBegan:
    scope: CheckScope


@dataclass(frozen=True, slots=True)
class BaselineRunBegan:
    """A check runs before anything is changed; a second run finds flaky tests."""

    command: str
    number: int
    runs: int


@dataclass(frozen=True, slots=True)
class TestsFinished:
    """How far the command that runs has come with its tests."""

    __test__: ClassVar[bool] = False
    done: int
    total: int = 0
    """0 if it is not known."""
    percent: int = 0


@dataclass(frozen=True, slots=True)
class CheckEnded:
    scope: CheckScope


@dataclass(frozen=True, slots=True)
class WorkNotice:
    """Anything else that may take long, or that a person should read."""

    text: str


ProgressEvent = (
    CallBegan
    | ReplyStreamed
    | CallDelayed
    | CallEnded
    | ActionBegan
    | ActionEnded
    | ChangeMade
    | CheckBegan
    | BaselineRunBegan
    | TestsFinished
    | CheckEnded
    | WorkNotice
)
ProgressListener = Callable[[ProgressEvent], None]


def ignore_progress(event: ProgressEvent) -> None:
    """For callers that do not follow a run."""
