"""Sections that the index of code fills: each piece says why it is there. Pure; the text was read from disk for this window."""

from dataclasses import replace
from functools import partial

from afresh.context.relevance import describe_goal_and_plan
from afresh.context.section import SectionDraft, SectionPiece
from afresh.context.truncate_piece import rank_lines_by_need
from afresh.context.worth import estimate_chance
from afresh.core.context_item import Diff, Excerpt, Item, Note, RepoMap, ShownLine, render_lines
from afresh.core.context_policy import TruncationPolicy
from afresh.core.prompt import Tier
from afresh.core.reply import BATCH_LINE_START
from afresh.memory.gathered_context import GatheredContext

ANALYSIS_TITLES = {
    "history": "Latest commits of these files",
    "diff": "Diff under review",
    "similar": "Similar existing code",
    "target": "Code the task is about",
    "callers": "Where names of the task are, and callers",
    "tests": "Tests that use it",
    "coverage": "Coverage of the changes",
}
"""In reading order."""
STRICTLY_RANKED_SECTIONS = ("target", "similar", "diff")
"""Where a small thing of little worth must not stand for a large one of more."""
PLAN_BASIS = "plan"
NAMED_BASES = (PLAN_BASIS, "named")
"""Of code that is at least pointed at where it has no room."""
KINDS_WITH_HEADING = ("similar", "callers")
"""Notes that are shown under a line of their own that names them and the reason."""


def draft_analysis_sections(memory: GatheredContext) -> list[SectionDraft]:
    words = describe_goal_and_plan(memory.state)
    return [_draft_analysis_section(name, memory, words) for name in ANALYSIS_TITLES]


def _draft_analysis_section(name: str, memory: GatheredContext, words: str) -> SectionDraft:
    found = [item for item in map(partial(_drop_lines_just_found, memory), memory.of(name)) if item]
    pieces = [
        _build_analysis_piece(item, rank + _rank_next_item(item, memory), words, memory.policy.truncation)
        for rank, item in enumerate(found)
    ]
    chances = [estimate_chance(item, memory.state, memory.policy.allocation.worth) for item in found]
    return SectionDraft(
        name,
        ANALYSIS_TITLES[name],
        Tier.PHASE,
        tuple(pieces),
        strict=name in STRICTLY_RANKED_SECTIONS,
        chances=tuple(chances),
    )


def _rank_next_item(item: Item, memory: GatheredContext) -> int:
    """Code that the next item of a begun plan names comes before all that was done."""
    ranks = memory.policy.excerpts
    begun = any(one.done for one in memory.state.work.plan)
    next_ = begun and isinstance(item, Excerpt) and item.basis == PLAN_BASIS and len(item.lines) <= ranks.max_protected_lines // 2
    return ranks.core_rank if next_ else 0


def _drop_lines_just_found(memory: GatheredContext, item: Item) -> Item | None:
    """Without callers that a search of the last step has printed."""
    if not isinstance(item, Note) or item.kind != "callers":
        return item
    printed = [note.text for note in memory.notes("output")]
    new = [line for line in item.text.split("\n") if not any(f"{line.partition(' ')[0]}:" in text for text in printed)]
    return replace(item, text="\n".join(new)) if new else None


def _build_analysis_piece(item: Item, rank: int, words: str, policy: TruncationPolicy) -> SectionPiece:
    lines = list_item_lines(item)
    text = render_lines(lines)
    return SectionPiece(
        text,
        f"{item.kind}: {item.subject}",
        rank,
        item.source,
        first=rank_lines_by_need(text, words, policy) if item.kind != "diff" else (),
        lines=lines if isinstance(item, Excerpt) else (),
        item=item if isinstance(item, Excerpt) else None,
        stub=f"{item.subject} (not shown: `read` it)" if isinstance(item, Excerpt) and item.basis in NAMED_BASES else "",
    )


def list_item_lines(item: Item) -> tuple[ShownLine, ...]:
    match item:
        case Excerpt():
            return (item.subject, *item.body)
        case Diff():
            return (item.subject, *item.patch.split("\n"))
        case RepoMap():
            return tuple(map(str, item.entries))
        case Note():
            return (item.subject, item.text) if item.kind in KINDS_WITH_HEADING else (item.text,)


VIOLATIONS_PIECE = "violations"
SUGGESTION_PIECE_PREFIX = "suggestion "


def draft_suggestions(memory: GatheredContext) -> SectionDraft:
    violations = [
        SectionPiece(line, VIOLATIONS_PIECE, rank=1) for look in memory.notes("violations") for line in look.text.splitlines()
    ]
    offered = [
        SectionPiece(
            f"- [{look.subject}] {look.text.partition(chr(10))[0]}",
            f"{SUGGESTION_PIECE_PREFIX}{look.subject}",
            rank=number + 2 if number else 0,
        )
        for number, look in enumerate(memory.notes("suggestion"))
    ]
    none = [SectionPiece("none", "suggestions")] if violations and not offered else []
    words = "Checked to compile and to lower complexity; take one with `apply`, with a `name` for NAME."
    head = [SectionPiece(words, "heading")] if offered else []
    batch = " ".join(f"[{look.subject}]" for look in memory.notes("batch"))
    head += [SectionPiece(f"{BATCH_LINE_START} {batch}", "heading")] if " " in batch else []
    return SectionDraft("suggestions", "Suggestions", Tier.PHASE, (*violations, *head, *offered, *none))
