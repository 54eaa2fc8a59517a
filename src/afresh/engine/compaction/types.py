"""What a strategy is, and what comes of all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from afresh.domain.memory import GatheredContext
from afresh.domain.window import SectionCompaction, Omission
from afresh.engine.draft import SectionDraft, SectionPiece


@dataclass(frozen=True, slots=True)
class CompactionStrategy:
    """One way to shorten one section. What it does not give up is not its to take."""

    name: str
    section: str
    going: Callable[[SectionDraft, GatheredContext], Sequence[SectionPiece]]
    """What may go, the least wanted first. A piece with a stub leaves the stub behind."""
    spares_share: bool = False
    """The section keeps as much as the template gives it for its own."""


@dataclass(frozen=True, slots=True)
class CompactedDrafts:
    drafts: tuple[SectionDraft, ...]
    reports: tuple[SectionCompaction, ...] = ()
    omissions: tuple[Omission, ...] = ()
