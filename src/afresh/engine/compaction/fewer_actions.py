"""Of the lines about earlier steps the oldest go; what they printed is in memory and in the archive."""

from collections.abc import Sequence

from afresh.domain.memory import GatheredContext
from afresh.engine.compaction.types import CompactionStrategy
from afresh.engine.draft import SectionDraft, SectionPiece

MIN_EARLIER_STEPS = 2


def _select_oldest_steps(draft: SectionDraft, memory: GatheredContext) -> Sequence[SectionPiece]:
    newest_first = sorted(draft.pieces, key=lambda piece: piece.rank)
    return newest_first[: MIN_EARLIER_STEPS - 1 : -1]


FEWER_ACTIONS = CompactionStrategy("fewer_actions", "earlier", _select_oldest_steps)
