"""The best few suggestions are enough: the next ones come when these are tried."""

from collections.abc import Sequence

from afresh.domain.memory import Memory
from afresh.engine.compaction.types import Strategy
from afresh.engine.draft import Draft, Piece
from afresh.engine.sections import OFFER

BEST = 2


def going(draft: Draft, memory: Memory) -> Sequence[Piece]:
    offered = sorted((piece for piece in draft.pieces if piece.what.startswith(OFFER)), key=lambda piece: piece.rank)
    return offered[: BEST - 1 : -1]


STRATEGY = Strategy("fewer_suggestions", "suggestions", going)
