"""Definitions that the task has not changed, touched lately or named, and no tests that are next, become a line that says where
they are."""

from collections.abc import Sequence

from afresh.domain.memory import GatheredContext
from afresh.domain.state import State
from afresh.engine.compaction.types import CompactionStrategy
from afresh.engine.draft import SectionDraft, SectionPiece
from afresh.engine.sections import EXCERPT_PIECE_PREFIX
from afresh.engine.view import NEXT_TESTS_RANK, FILE_EXCERPT_SUBJECT, UNMENTIONED_RANK, describe_goal_and_plan, list_focus_words

RECENT_EXCERPT_STEPS = 3
"""Steps."""


def _select_distant_excerpts(draft: SectionDraft, memory: GatheredContext) -> Sequence[SectionPiece]:
    state = memory.state
    text, names = describe_goal_and_plan(state), list_focus_words(state)
    distant = [piece for piece in draft.pieces if piece.text != piece.stub and not _is_near_work(piece, state, text, names)]
    return sorted(distant, key=lambda piece: -piece.rank)


def _is_near_work(piece: SectionPiece, state: State, text: str, names: frozenset[str]) -> bool:
    if piece.rank <= NEXT_TESTS_RANK + UNMENTIONED_RANK:
        return True
    match = FILE_EXCERPT_SUBJECT.fullmatch(piece.what.removeprefix(EXCERPT_PIECE_PREFIX))
    assert match, f"a piece of a file names its lines: {piece.what}"
    path, start, end, titles = match[1], int(match[2]), int(match[3]), match[4].split(", ")
    if path.rpartition("/")[2] in text or names & set(titles):
        return True
    at = [region for region in state.regions if region.path == path and region.meets(start, end)]
    return any(region.changed or region.step > state.step - RECENT_EXCERPT_STEPS for region in at)


SHORTER_CONTEXT = CompactionStrategy("shorter_context", "files", _select_distant_excerpts, spares_share=True)
