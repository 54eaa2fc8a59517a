"""Notes that nobody is sure of go, then old ones. What was verified stays; errors and failed approaches are no notes."""

from collections.abc import Sequence

from afresh.domain.fact import FactKind
from afresh.domain.memory import GatheredContext
from afresh.engine.compaction.types import CompactionStrategy
from afresh.engine.draft import SectionDraft, SectionPiece
from afresh.engine.held import build_note_piece

MIN_NOTES = 3
"""Notes that stay: the surest, and of these the newest."""


def _select_doubtful_notes(draft: SectionDraft, memory: GatheredContext) -> Sequence[SectionPiece]:
    notes = {build_note_piece(fact, memory.state): fact for fact in memory.state.facts if fact.kind is FactKind.NOTE}
    verified = {build_note_piece(fact, memory.state) for fact in memory.state.facts if fact.kind is FactKind.VERIFIED}
    doubtful = [piece for piece in draft.pieces if piece in notes and piece not in verified]
    doubtful.sort(key=lambda piece: (notes[piece].confidence, notes[piece].step))
    return doubtful[: max(0, len(doubtful) - MIN_NOTES)]


CONFIDENT_FACTS = CompactionStrategy("confident_facts", "known", _select_doubtful_notes, spares_share=True)
