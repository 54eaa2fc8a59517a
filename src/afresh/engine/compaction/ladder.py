"""Strategy after strategy, cheapest first, until what is asked for has room. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from afresh.domain.memory import Memory
from afresh.domain.template import Share
from afresh.domain.window import Compaction, Omission, Tier
from afresh.engine.compaction import confident_facts, fewer_actions, fewer_suggestions, shorter_context, trim_analysis
from afresh.engine.compaction.types import Shorter, Strategy
from afresh.engine.draft import Draft, Piece
from afresh.engine.tokens import Gauge

STRATEGIES = (
    *trim_analysis.OF_SECTIONS, trim_analysis.OF_OUTLINE, trim_analysis.OF_VIOLATIONS, confident_facts.STRATEGY,
    fewer_suggestions.STRATEGY, shorter_context.STRATEGY, fewer_actions.STRATEGY,
)  # fmt: skip


def compact(drafts: Sequence[Draft], memory: Memory, shares: Sequence[Share], room: int, counter: Gauge) -> Shorter:
    """Nothing is taken out while all that is asked for has room, and no more than it takes."""
    sizes = {draft.name: asked(draft, shares, counter) for draft in drafts}
    caps = {share.section: int(share.cap * room) for share in shares if share.cap < 1}
    made, reports, omissions = {draft.name: draft for draft in drafts}, list[Compaction](), list[Omission]()
    for strategy in STRATEGIES:
        draft, share = made.get(strategy.section), named(shares, strategy.section)
        over = sum(size if name not in caps else min(size, caps[name]) for name, size in sizes.items()) - room
        if over <= 0 or draft is None or not sizes[draft.name]:
            continue
        size, own = sizes[draft.name], int(share.part * room) if share and strategy.spares_share else 0
        idle = max(0, size - caps.get(draft.name, size))
        if gone := chosen(strategy.going(draft, memory), over + idle, size - own, counter):
            made[draft.name] = without(draft, gone)
            sizes[draft.name] = asked(made[draft.name], shares, counter)
            reports.append(report(strategy, gone))
            omissions += omitted(strategy, gone)
    return Shorter(tuple(draft for draft in made.values() if draft.pieces), tuple(reports), tuple(omissions))


def asked(draft: Draft, shares: Sequence[Share], counter: Gauge) -> int:
    """Tokens that a section would take if there were room, without what only takes what is left; none where it is always or never
    shown."""
    share = named(shares, draft.name)
    tier = share.tier if share else draft.tier
    if Tier.ALWAYS in (draft.tier, tier) or tier is Tier.NEVER or not draft.pieces:
        return 0
    pieces = [piece for piece in draft.pieces if not piece.spare]
    groups = {piece.group for piece in pieces if piece.group}
    texts = [f"## {draft.title}\n", *sorted(groups), *(piece.text for piece in pieces)]
    return sum(counter(text) + 1 for text in texts)


def named(shares: Sequence[Share], section: str) -> Share | None:
    return next((share for share in shares if share.section == section), None)


def chosen(going: Sequence[Piece], over: int, spare: int, counter: Gauge) -> dict[Piece, int]:
    """The pieces that go, and what each wins: as many as are over, as far as the section can spare them."""
    gone: dict[Piece, int] = {}
    for piece in going:
        won = counter(piece.text) - counter(piece.stub) if piece.stub else counter(piece.text) + 1
        total = sum(gone.values())
        if total >= over or total + won > spare:
            break
        if won > 0:
            gone[piece] = won
    return gone


def without(draft: Draft, gone: dict[Piece, int]) -> Draft:
    kept = [
        replace(piece, text=piece.stub) if piece in gone else piece for piece in draft.pieces if piece.stub or piece not in gone
    ]
    return replace(draft, pieces=tuple(kept), trimmed=True)


def report(strategy: Strategy, gone: dict[Piece, int]) -> Compaction:
    times = Counter(piece.what for piece in gone)
    removed = tuple(what if count == 1 else f"{what} ({count})" for what, count in times.items())
    return Compaction(strategy.name, strategy.section, removed, sum(gone.values()))


def omitted(strategy: Strategy, gone: dict[Piece, int]) -> list[Omission]:
    """One line for all pieces of one name."""
    won: dict[str, int] = {}
    for piece, tokens in gone.items():
        won[piece.what] = won.get(piece.what, 0) + tokens
    return [Omission(strategy.section, what, tokens, f"compacted: {strategy.name}") for what, tokens in won.items()]
