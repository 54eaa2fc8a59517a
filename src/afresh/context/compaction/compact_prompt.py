"""Strategy after strategy, cheapest first, until what is asked for has room. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from afresh.context.compaction import strategies
from afresh.context.compaction.strategies import CompactedDrafts, CompactionStrategy
from afresh.context.section import SectionDraft, SectionPiece
from afresh.core.prompt import Omission, SectionCompaction, Tier
from afresh.core.template import SectionShare, find_share
from afresh.core.tokens import TokenCounter
from afresh.memory.gathered_context import GatheredContext

COMPACTION_STRATEGIES = (
    *strategies.TRIM_ANALYSIS_SECTIONS, strategies.TRIM_REPO_MAP, strategies.TRIM_VIOLATIONS, strategies.CONFIDENT_FACTS,
    strategies.FEWER_SUGGESTIONS, strategies.SHORTER_CONTEXT, strategies.FEWER_ACTIONS,
)  # fmt: skip


def compact_sections(
    drafts: Sequence[SectionDraft], memory: GatheredContext, shares: Sequence[SectionShare], room: int, counter: TokenCounter
) -> CompactedDrafts:
    """Nothing is taken out while all that is asked for has room, and no more than it takes."""
    sizes = {draft.name: count_asked_tokens(draft, shares, counter) for draft in drafts}
    caps = {share.section: int(share.cap * room) for share in shares if share.cap < 1}
    made, reports, omissions = {draft.name: draft for draft in drafts}, list[SectionCompaction](), list[Omission]()
    for strategy in COMPACTION_STRATEGIES:
        draft, share = made.get(strategy.section), find_share(shares, strategy.section)
        over = sum(size if name not in caps else min(size, caps[name]) for name, size in sizes.items()) - room
        if over <= 0 or draft is None or not sizes[draft.name]:
            continue
        size, own = sizes[draft.name], int(share.part * room) if share and strategy.spares_share else 0
        idle = max(0, size - caps.get(draft.name, size))
        if gone := _choose_pieces_to_drop(strategy.going(draft, memory), over + idle, size - own, counter):
            made[draft.name] = _drop_pieces(draft, gone)
            sizes[draft.name] = count_asked_tokens(made[draft.name], shares, counter)
            reports.append(_report_compaction(strategy, gone))
            omissions += _list_compaction_omissions(strategy, gone)
    return CompactedDrafts(tuple(draft for draft in made.values() if draft.pieces), tuple(reports), tuple(omissions))


def count_asked_tokens(draft: SectionDraft, shares: Sequence[SectionShare], counter: TokenCounter) -> int:
    """Tokens that a section would take if there were room, without what only takes what is left; none where it is always or never
    shown."""
    share = find_share(shares, draft.name)
    tier = share.tier if share else draft.tier
    if Tier.ALWAYS in (draft.tier, tier) or tier is Tier.NEVER or not draft.pieces:
        return 0
    pieces = [piece for piece in draft.pieces if not piece.spare]
    groups = {piece.group for piece in pieces if piece.group}
    texts = [f"## {draft.title}\n", *sorted(groups), *(piece.text for piece in pieces)]
    return sum(counter(text) + 1 for text in texts)


def _choose_pieces_to_drop(
    going: Sequence[SectionPiece], over: int, spare: int, counter: TokenCounter
) -> dict[SectionPiece, int]:
    """The pieces that go, and what each wins: as many as are over, as far as the section can spare them."""
    gone: dict[SectionPiece, int] = {}
    for piece in going:
        won = counter(piece.text) - counter(piece.stub) if piece.stub else counter(piece.text) + 1
        total = sum(gone.values())
        if total >= over or total + won > spare:
            break
        if won > 0:
            gone[piece] = won
    return gone


def _drop_pieces(draft: SectionDraft, gone: dict[SectionPiece, int]) -> SectionDraft:
    kept = [piece.as_stub() if piece in gone else piece for piece in draft.pieces if piece.stub or piece not in gone]
    return replace(draft, pieces=tuple(kept), trimmed=True)


def _report_compaction(strategy: CompactionStrategy, gone: dict[SectionPiece, int]) -> SectionCompaction:
    times = Counter(piece.what for piece in gone)
    removed = tuple(what if count == 1 else f"{what} ({count})" for what, count in times.items())
    return SectionCompaction(strategy.name, strategy.section, removed, sum(gone.values()))


def _list_compaction_omissions(strategy: CompactionStrategy, gone: dict[SectionPiece, int]) -> list[Omission]:
    """One line for all pieces of one name."""
    won: dict[str, int] = {}
    for piece, tokens in gone.items():
        won[piece.what] = won.get(piece.what, 0) + tokens
    return [Omission(strategy.section, what, tokens, f"compacted: {strategy.name}") for what, tokens in won.items()]
