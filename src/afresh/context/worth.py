"""What of the code that nobody asked for is worth its tokens at this step. Pure."""

from collections.abc import Iterator
from dataclasses import replace

from afresh.context.section import SectionDraft, SectionPiece
from afresh.context.truncate_piece import truncate_piece
from afresh.core.context_item import Excerpt, Item
from afresh.core.context_policy import ContextPolicy
from afresh.core.state import State
from afresh.core.tokens import TokenCounter
from afresh.core.worth_policy import WorthPolicy

NOT_WORTH_REASON = "less likely to be needed than it costs"


def estimate_chance(item: Item, state: State, policy: WorthPolicy) -> float:
    """How likely the model needs the item now: less once it has looked for itself, and least once a change was kept."""
    reason = f"{item.kind} {item.basis}" if isinstance(item, Excerpt) else item.kind
    stage = 2 if state.workspace.changed else 1 if state.memory.regions else 0
    rows = {name: chances for name, *chances in policy.chances}
    found = rows.get(reason) or rows.get(item.kind)
    return (found or (1.0, 1.0, 1.0))[stage]


def drop_unworthy_pieces(draft: SectionDraft, counter: TokenCounter, policy: ContextPolicy) -> SectionDraft:
    """The section with the pieces that are worth their tokens; of code that costs too much, the lines that matter most."""
    cut = [
        (piece, _shorten_to_worth(piece, chance, counter, policy))
        for piece, chance in zip(draft.pieces, draft.chances, strict=False)
    ]
    gone = [replace(piece, text="\n".join(_list_missing_lines(piece, part))) for piece, part in cut if part is not piece]
    if not gone:
        return draft
    return replace(draft, pieces=tuple(part for _, part in cut if part), left=(*draft.left, *gone), why_left=NOT_WORTH_REASON)


def _shorten_to_worth(piece: SectionPiece, chance: float, counter: TokenCounter, policy: ContextPolicy) -> SectionPiece | None:
    worth = policy.allocation.worth
    most = worth.max_price(chance)
    if counter(piece.text) <= most:
        return piece
    if not piece.lines or chance < worth.min_partial_chance or most < policy.allocation.min_truncated_piece_tokens:
        return None
    return truncate_piece(piece, int(most), counter, policy.truncation)


def _list_missing_lines(piece: SectionPiece, part: SectionPiece | None) -> Iterator[str]:
    shown = set(part.text.splitlines()) if part else set[str]()
    return (line for line in piece.text.splitlines() if line not in shown)
