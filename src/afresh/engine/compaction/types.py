"""What a strategy is, and what comes of all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from afresh.domain.memory import Memory
from afresh.domain.window import Compaction, Omission
from afresh.engine.draft import Draft, Piece


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to shorten one section. What it does not give up is not its to take."""

    name: str
    section: str
    going: Callable[[Draft, Memory], Sequence[Piece]]
    """What may go, the least wanted first. A piece with a stub leaves the stub behind."""
    spares_share: bool = False
    """The section keeps as much as the template gives it for its own."""


@dataclass(frozen=True, slots=True)
class Shorter:
    drafts: tuple[Draft, ...]
    reports: tuple[Compaction, ...] = ()
    omissions: tuple[Omission, ...] = ()
