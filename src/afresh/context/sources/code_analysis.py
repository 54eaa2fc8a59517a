"""Sections that the index of code fills: each piece says why it is there. Pure; the text was read from disk for this window."""

from dataclasses import replace
from functools import partial

from afresh.context.excerpt_ranking import CORE_RANK, MAX_PROTECTED_LINES
from afresh.context.relevance import describe_goal_and_plan
from afresh.context.section import SectionDraft, SectionPiece
from afresh.context.truncate_piece import rank_lines_by_need
from afresh.core.context_item import Diff, Excerpt, Item, Note, RepoMap, ShownLine, render_lines
from afresh.core.prompt import Tier
from afresh.core.reply import BATCH_LINE_START
from afresh.core.state import State
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
STRICTLY_RANKED_SECTIONS = ("similar", "diff")
"""Where a small thing of little worth must not stand for a large one of more."""
PLAN_BASIS, NAMED_BASIS = "plan", "named"
NAMED_BASES = (PLAN_BASIS, NAMED_BASIS)
"""Of code that is at least pointed at where it has no room."""
MAX_GUESS_CHARACTERS = {"target": 1_600, "similar": 600, "callers": 600, "tests": 300}
"""Of code that nobody asked for, by kind: what a step to look for it would cost, times how likely it is needed."""
POINTED_BASES = ("traceback", "diff", PLAN_BASIS, "thought")
NOBODY_ASKED_REASON = "nobody asked for it, and the work has gone on"
KINDS_WITH_HEADING = ("similar", "callers")
"""Notes that are shown under a line of their own that names them and the reason."""


def draft_analysis_sections(memory: GatheredContext) -> list[SectionDraft]:
    words = describe_goal_and_plan(memory.state)
    return [_draft_analysis_section(name, memory, words) for name in ANALYSIS_TITLES]


def _draft_analysis_section(name: str, memory: GatheredContext, words: str) -> SectionDraft:
    gathered = [item for item in map(partial(_drop_lines_just_found, memory), memory.of(name)) if item]
    found = [item for item in gathered if is_worth_showing(item, memory.state)]
    unwanted = [item for item in gathered if item not in found]
    pieces = [_build_analysis_piece(item, rank + _rank_next_item(item, memory), words) for rank, item in enumerate(found)]
    return SectionDraft(
        name,
        ANALYSIS_TITLES[name],
        Tier.PHASE,
        tuple(pieces),
        strict=name in STRICTLY_RANKED_SECTIONS,
        left=tuple([SectionPiece(render_lines(list_item_lines(item)), f"{item.kind}: {item.subject}") for item in unwanted]),
        why_left=NOBODY_ASKED_REASON,
    )


def is_worth_showing(item: Item, state: State) -> bool:
    """Code that nobody asked for is shown while it can save a step: what goal or callers point at until the first change, a guess
    until something was read. What a traceback, the plan or the change itself points at is always worth it."""
    if item.kind not in MAX_GUESS_CHARACTERS or (isinstance(item, Excerpt) and item.basis in POINTED_BASES):
        return True
    if state.workspace.changed or (isinstance(item, Excerpt) and item.basis == NAMED_BASIS) or item.kind == "callers":
        return not state.workspace.changed
    return not state.memory.regions and sum(len(str(line)) for line in list_item_lines(item)) <= MAX_GUESS_CHARACTERS[item.kind]


def _rank_next_item(item: Item, memory: GatheredContext) -> int:
    """Code that the next item of a begun plan names comes before all that was done."""
    begun = any(one.done for one in memory.state.work.plan)
    next_ = begun and isinstance(item, Excerpt) and item.basis == PLAN_BASIS and len(item.lines) <= MAX_PROTECTED_LINES // 2
    return CORE_RANK if next_ else 0


def _drop_lines_just_found(memory: GatheredContext, item: Item) -> Item | None:
    """Without callers that a search of the last step has printed."""
    if not isinstance(item, Note) or item.kind != "callers":
        return item
    printed = [note.text for note in memory.notes("output")]
    new = [line for line in item.text.split("\n") if not any(f"{line.partition(' ')[0]}:" in text for text in printed)]
    return replace(item, text="\n".join(new)) if new else None


def _build_analysis_piece(item: Item, rank: int, words: str) -> SectionPiece:
    lines = list_item_lines(item)
    text = render_lines(lines)
    return SectionPiece(
        text,
        f"{item.kind}: {item.subject}",
        rank,
        item.source,
        first=rank_lines_by_need(text, words) if item.kind != "diff" else (),
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
