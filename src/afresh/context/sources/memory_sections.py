"""Sections of what is held in memory: notes, decisions, what failed, what other tasks found, and the index of the archive."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from afresh.context.excerpt_ranking import CORE_RANK
from afresh.context.relevance import select_relevant_items, summarise_headings
from afresh.context.section import SectionDraft, SectionPiece, draft_always_section
from afresh.core.archived_block import BlockIndexLine, render_index_line
from afresh.core.context_item import StepLine
from afresh.core.decision import MAX_DECISIONS, Decision
from afresh.core.fact import MAX_FACTS, Fact, FactKind, select_observations_to_show
from afresh.core.prompt import Tier
from afresh.core.state import State
from afresh.core.step_history import render_summary_line, update_kept_words
from afresh.core.step_record import StepRecord
from afresh.core.task import Check
from afresh.core.truncate import to_one_line
from afresh.core.verdict import name_test_function
from afresh.memory.gathered_context import GatheredContext
from afresh.memory.history.names import find_file_names as named_files

MIN_CONFIDENCE = 0.8
MAX_OBSERVED_FACTS = 8
MAX_STALE_STEPS = 8  # what was observed so long ago, and before the last change, is left out
MAX_DECISION_CHARACTERS = 300
MAX_STEP_LINE_CHARACTERS = 150
MIN_LISTED_OUTPUT_CHARACTERS = 300  # a shorter output is not listed among the archived ones; `read` @index lists all
MAX_ERROR_LINES = 4
"""Errors that outputs said and that still hold: so many lines are never left out; others, and other observations, may be."""

RECALLED_ITEM_KINDS = {"failed": "failed", "decisions": "decision"}
ENTRY_NAMES = {"failed": "failed approach", "decisions": "decision"}
OBSERVED_RANK = 1_000_000
STALE_MARK = ", before the last change"
MAX_NOTE_STUB_CHARACTERS = 90
NEWEST_DECISION_FACTOR = 4
NOTES_SOURCE, DECISIONS_SOURCE = "`search` path=@notes", "`search` path=@decisions"
"""What shows the rest of a note or a decision."""
NOTE_NEED_STEPS = 12
"""Steps for which a note is worth a larger ceiling."""


def draft_archive_index(memory: GatheredContext) -> SectionDraft:
    """After a recovery, without any history: the outputs of some length, newest first to be taken. Else the steps name them."""
    stale, lines = _make_stale_marker(memory.state), () if memory.state.memory.passages else list_long_outputs(memory)
    pieces = [
        SectionPiece(
            f"- {render_index_line(line, stale(line.block, line.step))}", "index lines of archived outputs", rank=-line.step
        )
        for line in lines
    ]
    return SectionDraft("archive", "Archived outputs (`read` @id; @index lists all)", Tier.PHASE, tuple(pieces))


def list_long_outputs(memory: GatheredContext) -> list[BlockIndexLine]:
    """Lines of outputs that are long enough to be worth a recall; a shorter one is told by its step."""
    least = MIN_LISTED_OUTPUT_CHARACTERS
    return [line for line in memory.state.memory.index if line.size > least and not line.is_page]


def draft_notes(memory: GatheredContext) -> SectionDraft:
    """The newest note comes before anything that can be read again. Of one that has no room its beginning stays."""
    facts = [fact for fact in memory.state.memory.facts if fact.kind in (FactKind.NOTE, FactKind.CHECK)]
    pieces = [build_note_piece(fact, memory.state) for fact in facts]
    pieces[-1:] = [replace(piece, rank=CORE_RANK) for piece in pieces[-1:]]
    title = "Notes (to retire one: `note` with its subject, text `done`)"
    rest = "… more: `search` path=@notes"
    return SectionDraft("known", title, Tier.PHASE, (*pieces, *_separate_errors(memory)[1]), rest)


def build_note_piece(fact: Fact, state: State) -> SectionPiece:
    """Marked when a file that it names has changed since. A recent note that has no room is a need for a larger ceiling."""
    since = {region.path.rpartition("/")[2] for region in state.memory.regions if region.changed and region.step > fact.step}
    old = f" (step {fact.step}{STALE_MARK})" if since.intersection(named_files(f"{fact.subject} {fact.text}")) else ""
    recent = state.work.step - fact.step <= NOTE_NEED_STEPS
    text = f"- {fact.subject}: {fact.text.strip()}{old}"
    stub = f"- {shorten_to_words(f'{fact.subject}: {fact.text}', MAX_NOTE_STUB_CHARACTERS, NOTES_SOURCE)}{old}"
    what = f"note on {fact.subject}"
    return SectionPiece(
        text, what, rank=-fact.step, source=NOTES_SOURCE, asked=recent, stub=stub if len(stub) < len(text) else text
    )


def _make_stale_marker(state: State) -> Callable[[str, int], str]:
    """The mark for what a block said in a step, if files have changed since."""
    change, late = (
        state.workspace.last_change,
        {one.block for one in state.memory.passages if one.late and one.step == state.workspace.last_change},
    )
    return lambda block, step: STALE_MARK if change and (step < change or (step == change and block not in late)) else ""


def list_error_lines(memory: GatheredContext) -> list[str]:
    """The newest errors that outputs said and that still hold, each once: they are never left out."""
    lines = [piece.text for piece in _separate_errors(memory)[0]]
    return ["Seen in outputs, and not yet passed since:", *lines] if lines else []


def _separate_errors(memory: GatheredContext) -> tuple[list[SectionPiece], list[SectionPiece]]:
    """What outputs said: the part that is never left out, and the rest."""
    pieces, most = _list_observed_pieces(memory.state), MAX_ERROR_LINES
    kept = sorted(pieces, key=lambda piece: piece.rank)[:most]
    return [piece for piece in pieces if piece in kept], [piece for piece in pieces if piece not in kept]


def _list_observed_pieces(state: State) -> list[SectionPiece]:
    """What outputs said, after all notes, and what is not in doubt before what is; marked when files have changed since. What one
    output says of several tests is one line."""
    facts = [
        fact
        for fact in select_observations_to_show(state.memory.facts, state.verification.verdict)
        if fact.confidence >= MIN_CONFIDENCE and not _is_told_or_outdated(fact, state)
    ][-MAX_OBSERVED_FACTS:]
    stale, alike = _make_stale_marker(state), dict[tuple[str, str], list[Fact]]()
    for fact in facts:
        source, case = fact.block or fact.subject, "[" in fact.subject
        alike.setdefault((source, name_test_function(fact.subject) if case else fact.text), []).append(fact)
    return [
        SectionPiece(
            f"- step {fact.step}{stale(fact.block, fact.step)}: {to_one_line(fact.subject, 120)}{' and others' if more else ''}: "
            f"{to_one_line(fact.text, 160)}",
            f"observed of {fact.subject}", rank=OBSERVED_RANK - fact.step,
        )
        for fact, *more in alike.values()
    ]  # fmt: skip


def _is_told_or_outdated(fact: Fact, state: State) -> bool:
    """Whether Verification tells of the same failing test, or files have changed since and that was long ago."""
    verdict = state.verification.verdict
    failing = [failure.test for run in verdict.runs for failure in run.failures] if verdict else []
    old = fact.step < state.work.step - MAX_STALE_STEPS and fact.step < state.workspace.last_change
    return old or fact.subject in failing


def draft_failed_approaches(memory: GatheredContext) -> SectionDraft:
    """Never cut, so each is told in one line; of many those that concern the work now, and the rest by what they are about."""
    facts = [fact for fact in memory.state.memory.facts if fact.kind is FactKind.FAILED_APPROACH]
    told = [
        RememberedEntry(
            fact.subject, f"step {fact.step}: {to_one_line(fact.subject, 120)}: {to_one_line(fact.text, 120)}", fact.step
        )
        for fact in facts
    ]
    return _draft_relevant_entries("failed", "Tried and failed: do not repeat", told, memory)


def draft_decisions(memory: GatheredContext) -> SectionDraft:
    """Word for word. The user's own stand with what the user said."""
    made = [one for one in memory.state.memory.decisions if not one.answer]
    told = [RememberedEntry(one.subject or one.text, _render_decision(one, one is made[-1]), one.step) for one in made]
    kept = [f"- kept: {words.removeprefix('keep:').strip()}" for words in list_kept_words(memory.state)]
    return _draft_relevant_entries(
        "decisions", "Decisions (a newer note with `why` replaces one; text `done` retires it)", told, memory, kept
    )


def list_kept_words(state: State) -> tuple[str, ...]:
    """What the agent wants kept and has not withdrawn, with what it asked for last."""
    return update_kept_words(state.memory.summary.keep, state.memory.keep)


def _render_decision(one: Decision, newest: bool) -> str:
    """The newest with all that it holds; of a longer older one the beginning, and where the rest is."""
    most = MAX_DECISION_CHARACTERS * (NEWEST_DECISION_FACTOR if newest else 1)
    about = f"{to_one_line(one.subject, 60)}: " if one.subject else ""
    why = f" ({to_one_line(one.why, 120)})" if one.why else ""
    return f"step {one.step}, {one.by}: {about}{shorten_to_words(one.text, most, DECISIONS_SOURCE)}{why}"


def shorten_to_words(text: str, limit: int, source: str) -> str:
    """On one line; if it is longer than the limit, cut between words, with what shows the rest."""
    line = to_one_line(text)
    return line if len(line) <= limit + len(source) else f"{line[:limit].rpartition(' ')[0] or line[:limit]} … ({source})"


@dataclass(frozen=True, slots=True)
class RememberedEntry:
    about: str
    line: str
    step: int = 0


def _draft_relevant_entries(
    name: str, title: str, told: Sequence[RememberedEntry], memory: GatheredContext, kept: Sequence[str] = ()
) -> SectionDraft:
    """Each with what it is about. Those that memory has found again stand with the rest."""
    older = [RememberedEntry(note.subject, note.text) for note in memory.notes(RECALLED_ITEM_KINDS[name])]
    sorted_ = select_relevant_items([*older, *told], lambda one: one.line, memory.state)
    lines = [*kept, *[f"- {one.line}" for one in sorted_.shown]]
    if sorted_.rest:
        named = summarise_headings([one.about for one in sorted_.rest])
        most = "at least " if _is_state_full(memory.state) else ""
        lines.append(f"- {most}{len(sorted_.rest)} more (`search` path=@{name}): {named}")
    draft = draft_always_section(name, title, lines)
    left = [SectionPiece(one.line, f"{ENTRY_NAMES[name]} on {to_one_line(one.about, 60)}") for one in sorted_.rest]
    return replace(draft, left=tuple(left), steps=frozenset(one.step for one in sorted_.shown))


def _is_state_full(state: State) -> bool:
    """Then memory may hold more than a window knows of."""
    return len(state.memory.facts) >= MAX_FACTS or sum(not one.answer for one in state.memory.decisions) >= MAX_DECISIONS


def draft_recalled_facts(memory: GatheredContext) -> SectionDraft:
    """What an older step, or another task, has found out."""
    pieces = [SectionPiece(f"- {look.text}", f"memory {look.subject}", rank) for rank, look in enumerate(memory.notes("memory"))]
    return SectionDraft("memory", "From memory (may be outdated)", Tier.PHASE, tuple(pieces))


def draft_summary(memory: GatheredContext) -> SectionDraft:
    """Names come before prose, and of the steps the newest first. What the agent keeps is with the decisions."""
    told = memory.state.memory.summary
    pieces = [SectionPiece(told.prose, "summary by the model", 2)] if told.prose else []
    pieces += [
        SectionPiece(render_summary_line(line), f"summary of step {line.step}", 3 + told.through - line.step)
        for line in told.lines
    ]
    pieces += [SectionPiece(told.names_line, "names of older steps", 1)] if told.names else []
    return SectionDraft("summary", f"Summary of older steps (until {told.through})", Tier.PHASE, tuple(pieces))


def draft_plan(memory: GatheredContext) -> SectionDraft:
    return draft_always_section(
        "plan", "Your plan", [f"- [{'x' if item.done else ' '}] {item.text}" for item in memory.state.work.plan]
    )


def list_step_outcomes(memory: GatheredContext, tried: SectionDraft | None) -> list[StepLine]:
    """A line for each of the latest steps but the last; what they printed stands below it. `tried`: what failed."""
    listed, past = {line.block for line in list_long_outputs(memory)}, memory.state.memory.recent[:-1]
    lines = [_summarise_step(one, memory, bool(tried) and one.step in tried.steps, listed) for one in past if one.outcome]
    return [line for line in lines if line.outcome]


def _summarise_step(record: StepRecord, memory: GatheredContext, explained: bool, listed: set[str]) -> StepLine:
    """With the ids of its outputs that are long enough to be worth a recall."""
    ids = [seen.block[:8] for seen in record.observations if seen.block in listed]
    outcome = _shorten_outcome(record, memory.state.task.checks, explained)
    return StepLine(record.step, to_one_line(outcome, MAX_STEP_LINE_CHARACTERS), tuple(ids))


def _shorten_outcome(record: StepRecord, checks: Sequence[Check], explained: bool) -> str:
    """The outcome of a step without what other sections show: why it failed, if that is `explained`, and the name of the only
    check."""
    if record.reverted and explained:
        return f"{record.reverted}: reverted"
    outcome = record.outcome
    for name in record.checks if len(checks) == 1 else ():
        outcome = outcome.replace(f"{name}: ", "")
    return outcome
