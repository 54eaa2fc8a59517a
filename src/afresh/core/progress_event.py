"""What a run does right now. Watchers are told as it happens; nothing of it is kept."""

from collections.abc import Callable
from enum import StrEnum

from afresh.core.action import Action
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


class CheckScope(StrEnum):
    BASELINE = "baseline"
    """All checks twice, before anything is changed."""
    CHANGE = "change"
    """The tests that concern a change."""
    COMPLETION = "completion"
    """Every check."""


@dataclass(frozen=True, slots=True)
class CheckBegan:
    scope: CheckScope


@dataclass(frozen=True, slots=True)
class CheckEnded:
    scope: CheckScope


@dataclass(frozen=True, slots=True)
class WorkNotice:
    """Anything else that may take long, or that a person should read."""

    text: str


ProgressEvent = (
    CallBegan | ReplyStreamed | CallDelayed | CallEnded | ActionBegan | ActionEnded | CheckBegan | CheckEnded | WorkNotice
)
ProgressListener = Callable[[ProgressEvent], None]


def ignore_progress(event: ProgressEvent) -> None:
    """For whoever does not follow a run."""
