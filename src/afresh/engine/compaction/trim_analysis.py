"""Precomputed analysis goes first: it can be had again at any time, by `search` or by the next look at the tree."""

import re
from collections.abc import Sequence

from afresh.domain.memory import Memory
from afresh.engine.compaction.types import Strategy
from afresh.engine.draft import Draft, Piece
from afresh.engine.sections import VIOLATIONS
from afresh.engine.view import words

SHORTEST = 4
"""Letters of a word that is taken for a name: shorter ones are in every sentence."""


def unnamed(pieces: Sequence[Piece], memory: Memory) -> list[Piece]:
    """Lines that goal, plan and last thought do not speak of, the last first: the analysis puts what matters at the top."""
    spoken = frozenset(word for word in words(memory.state) if len(word) >= SHORTEST)
    return [piece for piece in reversed(pieces) if not spoken & set(re.findall(r"\w+", piece.text))]


def outline(draft: Draft, memory: Memory) -> Sequence[Piece]:
    return unnamed(draft.pieces, memory)


def violations(draft: Draft, memory: Memory) -> Sequence[Piece]:
    """The first stays: without it nothing would say that there are any."""
    return unnamed([piece for piece in draft.pieces if piece.what == VIOLATIONS][1:], memory)


def least(draft: Draft, memory: Memory) -> Sequence[Piece]:
    """The last first, and never all: the first says most."""
    return sorted(draft.pieces[1:], key=lambda piece: -piece.rank)


OF_SECTIONS = tuple(
    Strategy("trim_analysis", name, least, spares_share=True)
    for name in ("graph", "history", "coverage", "callers", "contracts", "similar", "tests")
)
OF_OUTLINE = Strategy("trim_analysis", "outline", outline, spares_share=True)
OF_VIOLATIONS = Strategy("trim_analysis", "suggestions", violations)
