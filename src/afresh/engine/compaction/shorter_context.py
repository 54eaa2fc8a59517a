"""Definitions that the task has not changed, touched lately or named, and no tests that are next, become a line that says where
they are."""

from collections.abc import Sequence

from afresh.domain.memory import Memory
from afresh.domain.state import State
from afresh.engine.compaction.types import Strategy
from afresh.engine.draft import Draft, Piece
from afresh.engine.sections import LINES
from afresh.engine.view import BESIDE, SUBJECT, UNSPOKEN, spoken, words

LATELY = 3
"""Steps."""


def going(draft: Draft, memory: Memory) -> Sequence[Piece]:
    state = memory.state
    text, names = spoken(state), words(state)
    distant = [piece for piece in draft.pieces if piece.text != piece.stub and not near(piece, state, text, names)]
    return sorted(distant, key=lambda piece: -piece.rank)


def near(piece: Piece, state: State, text: str, names: frozenset[str]) -> bool:
    if piece.rank <= BESIDE + UNSPOKEN:
        return True
    match = SUBJECT.fullmatch(piece.what.removeprefix(LINES))
    assert match, f"a piece of a file names its lines: {piece.what}"
    path, start, end, titles = match[1], int(match[2]), int(match[3]), match[4].split(", ")
    if path.rpartition("/")[2] in text or names & set(titles):
        return True
    at = [region for region in state.regions if region.path == path and region.meets(start, end)]
    return any(region.changed or region.step > state.step - LATELY for region in at)


STRATEGY = Strategy("shorter_context", "files", going, spares_share=True)
