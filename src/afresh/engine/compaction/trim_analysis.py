"""Precomputed analysis goes first: it can be had again at any time, by `search` or by the next look at the tree."""

import re
from collections.abc import Sequence

from afresh.domain.memory import GatheredContext
from afresh.engine.compaction.types import CompactionStrategy
from afresh.engine.draft import SectionDraft, SectionPiece
from afresh.engine.sections import VIOLATIONS_PIECE
from afresh.engine.view import list_focus_words

MIN_MENTIONED_NAME_CHARACTERS = 4
"""Letters of a word that is taken for a name: shorter ones are in every sentence."""


def _list_unmentioned_pieces(pieces: Sequence[SectionPiece], memory: GatheredContext) -> list[SectionPiece]:
    """Lines that goal, plan and last thought do not speak of, the last first: the analysis puts what matters at the top."""
    spoken = frozenset(word for word in list_focus_words(memory.state) if len(word) >= MIN_MENTIONED_NAME_CHARACTERS)
    return [piece for piece in reversed(pieces) if not spoken & set(re.findall(r"\w+", piece.text))]


def _select_map_lines(draft: SectionDraft, memory: GatheredContext) -> Sequence[SectionPiece]:
    return _list_unmentioned_pieces(draft.pieces, memory)


def _select_violations(draft: SectionDraft, memory: GatheredContext) -> Sequence[SectionPiece]:
    """The first stays: without it nothing would say that there are any."""
    return _list_unmentioned_pieces([piece for piece in draft.pieces if piece.what == VIOLATIONS_PIECE][1:], memory)


def _select_least_ranked_pieces(draft: SectionDraft, memory: GatheredContext) -> Sequence[SectionPiece]:
    """The last first, and never all: the first says most."""
    return sorted(draft.pieces[1:], key=lambda piece: -piece.rank)


TRIM_ANALYSIS_SECTIONS = tuple(
    CompactionStrategy("trim_analysis", name, _select_least_ranked_pieces, spares_share=True)
    for name in ("graph", "history", "coverage", "callers", "contracts", "similar", "tests")
)
TRIM_REPO_MAP = CompactionStrategy("trim_analysis", "outline", _select_map_lines, spares_share=True)
TRIM_VIOLATIONS = CompactionStrategy("trim_analysis", "suggestions", _select_violations)
