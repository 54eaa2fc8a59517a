"""What comes of an action."""

from dataclasses import dataclass

from afresh.domain.event import Event
from afresh.domain.fact import Fact, Region


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool gives back: raw text for the archive and what else happened."""

    text: str
    ok: bool = True
    events: tuple[Event, ...] = ()
    regions: tuple[Region, ...] = ()
    facts: tuple[Fact, ...] = ()
    traces: bool = False
    """A command ran that may have left files behind without meaning to change the tree."""
    complete: str = ""
    """The model's claim to be finished, with its summary: the harness verifies it."""
    refused: bool = False
    """The harness did not do it: it had been done often enough."""


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What a hook has answered; `note` is what went wrong with it."""

    go: bool
    note: str = ""
