"""Notes that nobody is sure of go, then old ones. What was verified stays; errors and failed approaches are no notes."""

from collections.abc import Sequence

from afresh.domain.fact import FactKind
from afresh.domain.memory import Memory
from afresh.engine.compaction.types import Strategy
from afresh.engine.draft import Draft, Piece
from afresh.engine.held import noted

FEWEST = 3
"""Notes that stay: the surest, and of these the newest."""


def going(draft: Draft, memory: Memory) -> Sequence[Piece]:
    notes = {noted(fact, memory.state): fact for fact in memory.state.facts if fact.kind is FactKind.NOTE}
    verified = {noted(fact, memory.state) for fact in memory.state.facts if fact.kind is FactKind.VERIFIED}
    doubtful = [piece for piece in draft.pieces if piece in notes and piece not in verified]
    doubtful.sort(key=lambda piece: (notes[piece].confidence, notes[piece].step))
    return doubtful[: max(0, len(doubtful) - FEWEST)]


STRATEGY = Strategy("confident_facts", "known", going, spares_share=True)
