"""Sections that the index of code fills: each piece says why it is there. Pure; the text was read from disk for this window."""

from collections.abc import Sequence

from afresh.context.relevance import describe_goal_and_plan
from afresh.context.section import SectionDraft, SectionPiece
from afresh.context.truncate_piece import rank_lines_by_need
from afresh.core.item import Item
from afresh.core.prompt import Tier
from afresh.memory.gathered_context import GatheredContext

ANALYSIS_TITLES = {
    "graph": "Who depends on whom",
    "contracts": "What these modules offer (line, signature)",
    "history": "Latest commits of these files",
    "diff": "Diff under review",
    "similar": "Nearest to what is asked, there already",
    "target": "What the task is about, as it is now",
    "callers": "Callers and callees",
    "tests": "Tests that cover it, and what they expect",
    "coverage": "Coverage of the changes",
}
"""In reading order."""
STRICTLY_RANKED_SECTIONS = ("target", "similar", "diff")
"""Where a small thing of little worth must not stand for a large one of more."""
SECTIONS_WITH_ITEM_HEADINGS = ("similar", "target", "callers", "diff")
"""Sections whose pieces stand under a line of their own that names them and the reason."""


def draft_analysis_sections(memory: GatheredContext) -> list[SectionDraft]:
    words = describe_goal_and_plan(memory.state)
    return [_draft_analysis_section(name, title, memory.of(name), words) for name, title in ANALYSIS_TITLES.items()]


def _draft_analysis_section(name: str, title: str, looks: Sequence[Item], words: str) -> SectionDraft:
    pieces = [
        SectionPiece(
            _render_analysis_item(look),
            f"{name}: {look.subject}",
            rank,
            _name_item_source(look),
            first=rank_lines_by_need(_render_analysis_item(look), words) if name != "diff" else (),
        )
        for rank, look in enumerate(looks)
    ]
    return SectionDraft(name, title, Tier.PHASE, tuple(pieces), strict=name in STRICTLY_RANKED_SECTIONS)


def _render_analysis_item(look: Item) -> str:
    return f"{look.subject}\n{look.text}" if look.kind in SECTIONS_WITH_ITEM_HEADINGS else look.text


def _name_item_source(look: Item) -> str:
    """Where the rest of a cut piece is to be had."""
    path = look.subject.partition(" ")[0].rpartition(":")[0] if look.kind in ("similar", "target") else ""
    return f"`read` {path}" if path else ""


VIOLATIONS_PIECE = "violations"
SUGGESTION_PIECE_PREFIX = "suggestion "


def draft_suggestions(memory: GatheredContext) -> SectionDraft:
    violations = [
        SectionPiece(line, VIOLATIONS_PIECE, rank=1) for look in memory.of("violations") for line in look.text.splitlines()
    ]
    offered = [
        SectionPiece(
            f"- [{look.subject}] {look.text.partition(chr(10))[0]}",
            f"{SUGGESTION_PIECE_PREFIX}{look.subject}",
            rank=number + 2 if number else 0,
        )
        for number, look in enumerate(memory.of("suggestion"))
    ]
    none = [SectionPiece("none", "suggestions")] if violations and not offered else []
    head = [SectionPiece("Checked to compile and to lower complexity; take one with `apply`.", "heading")] if offered else []
    return SectionDraft("suggestions", "Suggestions", Tier.PHASE, (*violations, *head, *offered, *none))
