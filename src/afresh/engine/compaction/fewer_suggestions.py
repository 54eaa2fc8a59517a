"""The best few suggestions are enough: the next ones come when these are tried."""

from collections.abc import Sequence

from afresh.domain.memory import GatheredContext
from afresh.engine.compaction.types import CompactionStrategy
from afresh.engine.draft import SectionDraft, SectionPiece
from afresh.engine.sections import SUGGESTION_PIECE_PREFIX

MIN_SUGGESTIONS = 2


def _select_later_suggestions(draft: SectionDraft, memory: GatheredContext) -> Sequence[SectionPiece]:
    offered = sorted(
        (piece for piece in draft.pieces if piece.what.startswith(SUGGESTION_PIECE_PREFIX)), key=lambda piece: piece.rank
    )
    return offered[: MIN_SUGGESTIONS - 1 : -1]


FEWER_SUGGESTIONS = CompactionStrategy("fewer_suggestions", "suggestions", _select_later_suggestions)
