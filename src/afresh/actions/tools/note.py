"""What a model writes down for later prompts, and what it asks of them: a note, a decision, older steps put away, more room."""

import re
from collections.abc import Mapping
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.decision import RETIRED_DECISION, Decision, has_same_subject
from afresh.core.event import CompactionRequested, DecisionMade
from afresh.core.fact import Fact, FactKind
from afresh.core.state import State
from afresh.core.states.ceiling_state import LargerCeilingRequested
from afresh.core.step_history import MAX_KEPT_CHARACTERS, WITHDRAWAL_PREFIX, loses_kept_words
from afresh.core.step_result import ToolOutcome
from afresh.core.truncate import join_first, truncate_text
from afresh.core.verdict import Ruling
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext

COMPACT_SUBJECT = "compact"
ROOM_SUBJECT = "room"
RETIRING_WORDS = ("done", "no longer holds", "no longer")
MAX_NAMED_NOTES = 8
"""Subjects that ask something of the next prompt."""
MAX_SUBJECT_CHARACTERS = 60
MAX_DECISION_CHARACTERS = 1200
MAX_KEEP_CHARACTERS = 600
"""Characters of what is in every later prompt; more is cut, and the result says so."""
SURE_PATTERN = re.compile(r"\b(100|\d{1,2}) ?% (?:sure|certain|confident)")


def keep_note(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    """A newer note on the same subject replaces the older one; the text `done` only retires it."""
    subject, text = args["subject"].strip(), args["text"].strip()
    if subject and text.lower().strip(".") in RETIRING_WORDS:
        return retire_note(subject, context)
    if not subject or not text:
        raise ModelMistake("note: subject and text must not be empty")
    if args.get("why", "").strip():
        return record_decision(subject, text, args["why"], context)
    if subject.lower() == COMPACT_SUBJECT:
        return request_compaction(text, context)
    if subject.lower() == ROOM_SUBJECT:
        return ToolOutcome("asked for; the next prompt is larger if the limit allows it", events=(LargerCeilingRequested(text),))
    fact = Fact(FactKind.NOTE, args["subject"], args["text"], confidence=0.8, step=context.state.work.step + 1)
    return ToolOutcome("noted", facts=(fact,))


def retire_note(subject: str, context: ToolContext) -> ToolOutcome:
    memory, step = context.state.memory, context.state.work.step + 1
    notes = [fact for fact in memory.facts if fact.kind is FactKind.NOTE and has_same_subject(fact.subject, subject)]
    decisions = [
        decision for decision in memory.decisions if decision.by == "model" and has_same_subject(decision.subject, subject)
    ]
    if not notes and not decisions:
        known = join_first([fact.subject for fact in memory.facts if fact.kind is FactKind.NOTE], MAX_NAMED_NOTES)
        raise ModelMistake(f"note: there is none on {subject!r} to retire{f'; there are {known}' if known else ''}")
    return ToolOutcome(
        "retired",
        facts=tuple([Fact(FactKind.NOTE, note.subject, "", confidence=0.8, step=step) for note in notes]),
        events=tuple(
            [DecisionMade(Decision(RETIRED_DECISION, "model", "done", step, decision.subject)) for decision in decisions]
        ),
    )


def record_decision(subject: str, text: str, why: str, context: ToolContext) -> ToolOutcome:
    """With its reason. A newer decision of the model on the same subject replaces the older one."""
    subject, _ = shorten_to_line(subject, MAX_SUBJECT_CHARACTERS)
    (text, cut), (why, why_cut) = shorten_to_line(text, MAX_DECISION_CHARACTERS), shorten_to_line(why, MAX_DECISION_CHARACTERS)
    before = [made for made in context.state.memory.decisions if has_same_subject(made.subject, subject)]
    if theirs := next((made for made in before if made.by == "person"), None):
        raise ModelMistake(f"note: the user has decided that: {theirs.text}; `ask` if it has to change")
    decision = Decision(text, "model", why, context.state.work.step + 1, subject, confidence_from_reason(why))
    instead = next((f"; no longer: {old.text}" for old in before if old.by == "model" and old.text != text), "")
    return ToolOutcome(f"decision kept for later prompts{cut or why_cut}{instead}", events=(DecisionMade(decision),))


def confidence_from_reason(why: str) -> float | None:
    """How sure the model says to be, if it says so: `… (80% sure)`."""
    match = SURE_PATTERN.search(why)
    return int(match[1]) / 100 if match else None


def shorten_to_line(text: str, limit: int) -> tuple[str, str]:
    """The text in one line of at most so many characters, and what to say if it was cut."""
    line = " ".join(text.split())
    return truncate_text(line, limit), f" (cut to {limit} characters)" if len(line) > limit else ""


def request_compaction(text: str, context: ToolContext) -> ToolOutcome:
    if why := find_compaction_obstacle(context.state):
        raise ModelMistake(f"compact: not now, {why}")
    keep, cut = shorten_to_line(text, MAX_KEEP_CHARACTERS)
    if loses_kept_words(context.state.memory.summary.keep, keep):
        note = f"what you keep may have {MAX_KEPT_CHARACTERS} characters in all"
        raise ModelMistake(f'compact: {note}: withdraw some first, with the text "{WITHDRAWAL_PREFIX} WORDS OF IT"')
    return ToolOutcome(f"older steps are put away before the next call{cut}", events=(CompactionRequested(keep),))


def find_compaction_obstacle(state: State) -> str:
    """Why older steps can't be put away now; empty if they can. Changes must be verified and the plan current."""
    if state.memory.recent and not state.memory.recent[-1].kept:
        return "the last change was undone: make one that holds first"
    if state.verification.verdict and state.verification.verdict.ruling is not Ruling.PASS:
        return f"what was verified last did not pass ({state.verification.verdict.reason}): fix that first"
    changed = max((region.step for region in state.memory.regions if region.changed), default=0)
    if changed > state.verification.verdict_step and state.task.checks:
        return "the last change is not verified: run the tests first"
    if changed > state.work.plan_step and any(not item.done for item in state.work.plan):
        return "an item of the plan may be half done: bring the plan up to date, and compact in the next reply"
    return ""


NOTE_SCHEMA = make_tool_schema("note", "For later; with `why` a decision.", ("why",), subject="", text="", why="")
tool = FunctionTool(NOTE_SCHEMA, keep_note)
