"""What is remembered of the steps so far. Bounded; the text of passages and outputs is in the archive."""

from typing import TYPE_CHECKING

from afresh.core.archived_block import BlockIndexLine
from afresh.core.decision import Decision
from afresh.core.fact import (
    Fact,
)
from afresh.core.fast_dataclass import dataclass
from afresh.core.lesson import INITIAL_LESSON_STATE, LessonState
from afresh.core.line_region import Region
from afresh.core.step_history import (
    Passage,
    Summary,
)
from afresh.core.step_record import (
    StepRecord,
)

if TYPE_CHECKING:
    pass

MAX_RECENT_STEPS = 6
EMPTY_SUMMARY = Summary()


@dataclass(frozen=True, slots=True)
class MemoryState:
    """Facts, decisions and steps."""

    facts: tuple[Fact, ...] = ()
    decisions: tuple[Decision, ...] = ()
    recent: tuple[StepRecord, ...] = ()
    regions: tuple[Region, ...] = ()
    index: tuple[BlockIndexLine, ...] = ()
    archived: int = 0
    """Lines that the whole index has: those above, and older ones on pages in the archive."""
    passages: tuple[Passage, ...] = ()
    """The remembered lines."""
    forgotten: int = 0
    """Passages that memory had no space for any more; they are in the archive."""
    summary: Summary = EMPTY_SUMMARY
    """What is left of them in words."""
    compactions: int = 0
    keep: str = ""
    """The agent has asked for a compaction, and says what is to be kept."""
    lessons: LessonState = INITIAL_LESSON_STATE
