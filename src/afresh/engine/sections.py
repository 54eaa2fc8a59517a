"""What each section of a window says. Pure: memory in, drafts out, in reading order from stable to volatile."""

import re
from collections.abc import Sequence

from afresh.domain.memory import GatheredContext
from afresh.domain.state import REVERTED_INFIX, StepRecord
from afresh.domain.summary import render_summary_line
from afresh.domain.task import Check
from afresh.domain.text import to_one_line
from afresh.domain.window import Tier
from afresh.engine.analysis import draft_analysis_sections
from afresh.engine.draft import SectionDraft, ListedFile, SectionPiece, draft_always_section
from afresh.engine.held import draft_archive_index, draft_decisions, draft_failed_approaches, draft_notes, draft_recalled_facts
from afresh.engine.instructions import INSTRUCTIONS_TITLE as INSTRUCTIONS
from afresh.engine.last import draft_last_step
from afresh.engine.spoken import render_user_messages
from afresh.engine.standing import render_finish_criteria, render_check_status
from afresh.engine.view import FileExcerpt, select_next_test_excerpts, select_protected_excerpts, list_focus_words
from afresh.engine.whole import MAP_FILE_LINE

MAX_STEP_LINE_CHARACTERS = 150
"""Characters of an earlier step: why one failed, and what ran, stands in sections of its own."""
USER_RULES_HEADING = "Rules of the user:"
SUBTASK_NOTE = (
    "This is a part of a larger task. Others do the rest: change only what this part needs, and complete when it is done."
)
FIXTURE_RANK_OFFSET = 100
"""Fixtures come after the tests that use them."""
VIOLATIONS_PIECE = "violations"
SUGGESTION_PIECE_PREFIX = "suggestion "
EXCERPT_PIECE_PREFIX = "lines of "
"""What pieces are called in records, where compaction tells them apart."""


def draft_sections(memory: GatheredContext) -> tuple[SectionDraft, ...]:
    """Every section that has something to say."""
    tried = draft_failed_approaches(memory)
    made = [
        draft_instructions(memory), draft_project_profile(memory), draft_task(memory), draft_lessons(memory), draft_repo_map(memory), draft_summary(memory),
        draft_archive_index(memory), draft_notes(memory), draft_recalled_facts(memory), draft_decisions(memory), tried, draft_excerpts(memory),
        draft_file_beginnings(memory), draft_cited_lines(memory), draft_changes(memory), draft_suggestions(memory), draft_verification(memory), draft_failing_tests(memory),
        draft_plan(memory), draft_earlier_steps(memory, tried), draft_last_step(memory),
    ]  # fmt: skip
    return tuple(draft for draft in (*made, *draft_analysis_sections(memory)) if draft.pieces)


def draft_instructions(memory: GatheredContext) -> SectionDraft:
    return draft_always_section("instructions", INSTRUCTIONS, [look.text for look in memory.of("instructions")])


def draft_task(memory: GatheredContext) -> SectionDraft:
    order = memory.state.task
    rules = [f"- {look.text}" for look in memory.of("rule")]
    told = [
        *([SUBTASK_NOTE] if order.parent else []),
        *([USER_RULES_HEADING] if rules else []),
        *rules,
        *render_user_messages(memory.state),
    ]
    return draft_always_section("task", f"Task ({order.type})", [order.goal, *told, *render_finish_criteria(order)])


def draft_project_profile(memory: GatheredContext) -> SectionDraft:
    """What the project is; a line goes before it is cut."""
    lines = [line for look in memory.of("fingerprint") for line in look.text.splitlines()]
    pieces = [SectionPiece(line, "lines of the fingerprint", number) for number, line in enumerate(lines)]
    return SectionDraft("fingerprint", "This project", Tier.PHASE, tuple(pieces))


def draft_lessons(memory: GatheredContext) -> SectionDraft:
    pieces = [SectionPiece(look.text, f"knowledge {look.subject}", rank) for rank, look in enumerate(memory.of("knowledge"))]
    return SectionDraft(
        "knowledge", "From earlier tasks (of then, not now; if you use one, say so with its id)", Tier.PHASE, tuple(pieces)
    )


def draft_repo_map(memory: GatheredContext) -> SectionDraft:
    lines = [line for look in memory.of("outline") for line in look.text.splitlines()]
    pieces = [
        SectionPiece(line, "lines of the outline", number, listed=_parse_listed_file(line)) for number, line in enumerate(lines)
    ]
    return SectionDraft("outline", "Source tree", Tier.PHASE, tuple(pieces), "… more: `run` ls -R")


def _parse_listed_file(line: str) -> ListedFile | None:
    """The file that a line of the source tree tells of."""
    found = MAP_FILE_LINE.match(line)
    return ListedFile(found[1], int(found[2]), f"{found[1]} (shown whole)") if found else None


def draft_summary(memory: GatheredContext) -> SectionDraft:
    """What is to be kept comes before names, names before prose, and of the steps the newest first."""
    told = memory.state.summary
    pieces = [SectionPiece(f"Keep: {words}", "what the agent kept") for words in told.keep]
    pieces += [SectionPiece(told.prose, "summary by the model", 2)] if told.prose else []
    pieces += [
        SectionPiece(render_summary_line(line), f"summary of step {line.step}", 3 + told.through - line.step)
        for line in told.lines
    ]
    pieces += [SectionPiece(told.names_line, "names of older steps", 1)] if told.names else []
    return SectionDraft("summary", f"Summary of older steps (until {told.through})", Tier.PHASE, tuple(pieces))


def draft_excerpts(memory: GatheredContext) -> SectionDraft:
    """Excerpts by path and line. What was touched last, or is spoken of, is given up last; a stub stands for the rest."""
    views, pieces, kept = _list_seen_excerpts(memory), list[SectionPiece](), rank_worked_on_excerpts(memory)
    spoken = list_focus_words(memory.state) if views else frozenset[str]()
    for view in views:
        stub = f"     … {view.start}-{view.end} {view.title}".rstrip()
        rank = view.rank(memory.state, spoken) + kept.get(view, 0)
        asked = view.read_in(memory.state.step, memory.state)
        pieces.append(
            SectionPiece(
                view.text, f"{EXCERPT_PIECE_PREFIX}{view.subject}", rank, f"`read` {view.path}", stub, view.path, asked=asked
            )
        )
    title = "Files as they are now (+ changed by this task, … not shown: `read` them)"
    return SectionDraft("files", title, Tier.DEMAND, tuple(pieces), "… more that is not shown")


def draft_file_beginnings(memory: GatheredContext) -> SectionDraft:
    """Of long files that the task names, and of short ones near it, for room that nothing else wants."""
    pieces = [
        SectionPiece(
            view.text, f"{EXCERPT_PIECE_PREFIX}{view.subject}", number, f"`read` {view.path}", group=view.path, spare=True
        )
        for number, view in enumerate(map(FileExcerpt.of, memory.of("beginning")))
    ]
    return SectionDraft("beginning", "More of what lies near, since there is room", Tier.DEMAND, tuple(pieces))


def _list_seen_excerpts(memory: GatheredContext) -> list[FileExcerpt]:
    return sorted(map(FileExcerpt.of, memory.of("file")), key=lambda view: (view.path, view.start))


def rank_worked_on_excerpts(memory: GatheredContext) -> dict[FileExcerpt, int]:
    views, next_ = _list_seen_excerpts(memory), {look.subject for look in memory.of("beside")}
    kept = select_protected_excerpts(views, memory.state, [look.text for look in memory.of("test")])
    return select_next_test_excerpts([view for view in views if view not in kept], next_) | kept


def draft_cited_lines(memory: GatheredContext) -> SectionDraft:
    lines = [f"{look.subject}  {look.text}" for look in memory.of("cited")]
    pieces = [SectionPiece(line, "cited lines", number) for number, line in enumerate(lines)]
    return SectionDraft("cited", "Lines that the file cites, as they are now (of a range the first)", Tier.PHASE, tuple(pieces))


def draft_changes(memory: GatheredContext) -> SectionDraft:
    """Which files; their text is in the excerpts, so that no line stands twice."""
    counts = [
        f"- {look.subject} (+{look.text.count(chr(10) + '+') - 1} −{look.text.count(chr(10) + '-') - 1})"
        for look in memory.of("change")
    ]  # fmt: skip
    return draft_always_section("changes", "Changes so far", counts or (["none"] if memory.state.opened else []))


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


def draft_verification(memory: GatheredContext) -> SectionDraft:
    return draft_always_section(
        "verification", "Verification (run by the harness)", render_check_status(memory.state) if memory.state.opened else []
    )


def draft_failing_tests(memory: GatheredContext) -> SectionDraft:
    """Unless it stands under Files, among what is kept."""
    shown = [view.code for view in rank_worked_on_excerpts(memory)]
    pieces = [
        SectionPiece(f"{look.subject}\n{look.text}", f"source of {look.subject}", number)
        for number, look in enumerate(memory.of("test"))
        if not any(look.text in code for code in shown)
    ]
    pieces += [
        SectionPiece(f"{look.subject}\n{look.text}", look.subject, FIXTURE_RANK_OFFSET + at)
        for at, look in enumerate(memory.of("fixture"))
    ]
    return SectionDraft("failing", "Source of failing tests", Tier.PHASE, tuple(pieces))


def draft_plan(memory: GatheredContext) -> SectionDraft:
    return draft_always_section(
        "plan", "Your plan", [f"- [{'x' if item.done else ' '}] {item.text}" for item in memory.state.plan]
    )


def draft_earlier_steps(memory: GatheredContext, tried: SectionDraft) -> SectionDraft:
    """A line for each of the latest; what they printed stands under the work so far. `tried`: what failed."""
    listed, past = {line.block for line in memory.state.index}, memory.state.recent[:-1]
    reasons = "\n".join(piece.text for piece in tried.pieces)
    pieces = [
        SectionPiece(
            f"- step {one.step}: {to_one_line(_shorten_outcome(one, memory.state.task.checks, reasons), MAX_STEP_LINE_CHARACTERS)}{_list_output_ids(one, listed)}",
            f"step {one.step}", -one.step,
        )
        for one in past
        if one.outcome
    ]  # fmt: skip
    return SectionDraft("earlier", "Earlier steps", Tier.PHASE, tuple(pieces))


def _shorten_outcome(record: StepRecord, checks: Sequence[Check], reasons: str) -> str:
    """What became of a step, without what stands elsewhere: why it failed, if that is among the reasons, and the one check that
    there is."""
    did, undone, _ = record.outcome.partition(REVERTED_INFIX)
    if undone and f"- step {record.step}: " in reasons:
        return did + undone.removesuffix(": ")
    if len(checks) != 1:
        return record.outcome
    return re.sub(rf"{re.escape(checks[0].command)}(?: \(targeted: [^()]*\))?: ", "", record.outcome)


def _list_output_ids(record: StepRecord, listed: set[str]) -> str:
    """Ids of its outputs that are long enough to be worth a recall."""
    ids = [seen.block[:8] for seen in record.observations if seen.block in listed]
    return f" [{' '.join(ids)}]" if ids else ""
