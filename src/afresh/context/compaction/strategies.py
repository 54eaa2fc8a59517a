"""Precomputed analysis goes first: it can be had again at any time, by `search` or by the next look at the tree."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from afresh.context.excerpt_ranking import NEXT_TESTS_RANK, UNMENTIONED_RANK, list_touching_regions
from afresh.context.relevance import describe_goal_and_plan, list_focus_words
from afresh.context.section import SectionDraft, SectionPiece
from afresh.context.sources.code_analysis import SUGGESTION_PIECE_PREFIX, VIOLATIONS_PIECE
from afresh.context.sources.memory_sections import build_note_piece
from afresh.core.context_item import Excerpt
from afresh.core.fact import FactKind
from afresh.core.prompt import Omission, SectionCompaction
from afresh.memory.gathered_context import GatheredContext

MIN_MENTIONED_NAME_CHARACTERS = 4  # shorter words are in every sentence
MIN_NOTES = 3
MIN_SUGGESTIONS = 2
RECENT_EXCERPT_STEPS = 3
MIN_EARLIER_STEPS = 2


@dataclass(frozen=True, slots=True)
class CompactionStrategy:
    """One way to shorten one section. What it does not give up is not its to take."""

    name: str
    section: str
    going: Callable[[SectionDraft, GatheredContext], Sequence[SectionPiece]]
    """What may go, the least wanted first. A piece with a stub leaves the stub behind."""
    spares_share: bool = False
    """The section keeps as much as the template gives it for its own."""


@dataclass(frozen=True, slots=True)
class CompactedDrafts:
    drafts: tuple[SectionDraft, ...]
    reports: tuple[SectionCompaction, ...] = ()
    omissions: tuple[Omission, ...] = ()


def _list_unmentioned_pieces(pieces: Sequence[SectionPiece], memory: GatheredContext) -> list[SectionPiece]:
    """Lines that goal, plan and last thought do not speak of, the last first: the analysis puts what matters at the top."""
    least = MIN_MENTIONED_NAME_CHARACTERS
    spoken = frozenset(word for word in list_focus_words(memory.state) if len(word) >= least)
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
    for name in ("history", "coverage", "callers", "similar", "tests")
)
TRIM_REPO_MAP = CompactionStrategy("trim_analysis", "outline", _select_map_lines, spares_share=True)
TRIM_VIOLATIONS = CompactionStrategy("trim_analysis", "suggestions", _select_violations)


def _select_doubtful_notes(draft: SectionDraft, memory: GatheredContext) -> Sequence[SectionPiece]:
    """All but the surest, and of these the newest."""
    notes = {build_note_piece(fact, memory.state): fact for fact in memory.state.memory.facts if fact.kind is FactKind.NOTE}
    verified = {build_note_piece(fact, memory.state) for fact in memory.state.memory.facts if fact.kind is FactKind.CHECK}
    doubtful = [piece for piece in draft.pieces if piece in notes and piece not in verified]
    doubtful.sort(key=lambda piece: (notes[piece].confidence, notes[piece].step))
    return doubtful[: max(0, len(doubtful) - MIN_NOTES)]


CONFIDENT_FACTS = CompactionStrategy("confident_facts", "known", _select_doubtful_notes, spares_share=True)


def _select_later_suggestions(draft: SectionDraft, memory: GatheredContext) -> Sequence[SectionPiece]:
    offered = sorted(
        (piece for piece in draft.pieces if piece.what.startswith(SUGGESTION_PIECE_PREFIX)), key=lambda piece: piece.rank
    )
    return offered[: MIN_SUGGESTIONS - 1 : -1]


FEWER_SUGGESTIONS = CompactionStrategy("fewer_suggestions", "suggestions", _select_later_suggestions)


def _select_distant_excerpts(draft: SectionDraft, memory: GatheredContext) -> Sequence[SectionPiece]:
    text, names = describe_goal_and_plan(memory.state), list_focus_words(memory.state)
    distant = [piece for piece in draft.pieces if piece.text != piece.stub and not _is_near_work(piece, memory, text, names)]
    return sorted(distant, key=lambda piece: -piece.rank)


def _is_near_work(piece: SectionPiece, memory: GatheredContext, text: str, names: frozenset[str]) -> bool:
    state = memory.state
    if piece.rank <= NEXT_TESTS_RANK + UNMENTIONED_RANK:
        return True
    excerpt = piece.item
    assert isinstance(excerpt, Excerpt), f"a piece of a file comes from an excerpt: {piece.what}"
    if excerpt.path.rpartition("/")[2] in text or names.intersection(excerpt.names):
        return True
    since = state.work.step - RECENT_EXCERPT_STEPS
    return any(region.changed or region.step > since for region in list_touching_regions(excerpt, state))


SHORTER_CONTEXT = CompactionStrategy("shorter_context", "files", _select_distant_excerpts, spares_share=True)


def _select_oldest_steps(draft: SectionDraft, memory: GatheredContext) -> Sequence[SectionPiece]:
    newest_first = sorted(draft.pieces, key=lambda piece: piece.rank)
    return newest_first[: MIN_EARLIER_STEPS - 1 : -1]


FEWER_ACTIONS = CompactionStrategy("fewer_actions", "earlier", _select_oldest_steps)
