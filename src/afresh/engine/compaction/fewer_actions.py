"""Of the lines about earlier steps the oldest go; what they printed is in memory and in the archive."""

from collections.abc import Sequence

from afresh.domain.memory import Memory
from afresh.engine.compaction.types import Strategy
from afresh.engine.draft import Draft, Piece

LATEST = 2


def going(draft: Draft, memory: Memory) -> Sequence[Piece]:
    newest_first = sorted(draft.pieces, key=lambda piece: piece.rank)
    return newest_first[: LATEST - 1 : -1]


STRATEGY = Strategy("fewer_actions", "earlier", going)
