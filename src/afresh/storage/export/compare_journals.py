"""How a journal from elsewhere relates to the one that is here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from afresh.core.event import JournalEntry


class JournalRelation(StrEnum):
    NEW = "new"
    LONGER = "longer"
    """It goes on where ours ends."""
    SAME = "same"
    BEHIND = "behind"
    """Ours goes on where it ends."""
    DIVERGED = "diverged"

    @property
    def adds(self) -> bool:
        return self in (JournalRelation.NEW, JournalRelation.LONGER)


@dataclass(frozen=True, slots=True)
class JournalComparison:
    relation: JournalRelation
    here: int = 0
    """Entries that are here."""
    parting: int = 0
    """The first entry that differs."""


def compare_journals(here: Iterable[JournalEntry], there: Sequence[JournalEntry]) -> JournalComparison:
    ours = [entry.hash for entry in here]
    differing = (seq for seq, (one, other) in enumerate(zip(ours, there, strict=False), 1) if one != other.hash)
    if parting := next(differing, 0):
        return JournalComparison(JournalRelation.DIVERGED, len(ours), parting)
    if len(ours) == len(there):
        return JournalComparison(JournalRelation.SAME, len(ours))
    if len(ours) > len(there):
        return JournalComparison(JournalRelation.BEHIND, len(ours))
    return JournalComparison(JournalRelation.LONGER if ours else JournalRelation.NEW, len(ours))
