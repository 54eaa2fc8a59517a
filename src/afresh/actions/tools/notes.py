"""What a model writes down for later prompts: notes, decisions and the plan. Each has a section of its own."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.decision import Decision, has_same_subject
from afresh.core.event import DecisionMade, PlanSet
from afresh.core.fact import Fact, FactKind
from afresh.core.step_result import ToolOutcome
from afresh.core.strategy_state import PlanItem
from afresh.core.truncate import truncate_text
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext


def keep_note(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    """A newer note on the same subject replaces the older one."""
    fact = Fact(FactKind.NOTE, args["subject"], args["note"], confidence=0.8, step=context.state.work.step + 1)
    return ToolOutcome("noted", facts=(fact,))


remember = FunctionTool(
    make_tool_schema("remember", "Keep a note; replaces the one on the same subject.", subject="", note=""), keep_note
)


MAX_SUBJECT_CHARACTERS = 60
MAX_DECISION_CHARACTERS = 240


def record_decision(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    """With its reason. A newer decision of the model on the same subject replaces the older one."""
    subject, text, why = (" ".join(args[name].split()) for name in ("subject", "decision", "why"))
    if not (
        0 < len(subject) <= MAX_SUBJECT_CHARACTERS
        and 0 < len(text) <= MAX_DECISION_CHARACTERS
        and 0 < len(why) <= MAX_DECISION_CHARACTERS
    ):
        raise ModelMistake(
            f"decide: subject (at most {MAX_SUBJECT_CHARACTERS} characters), decision and why (at most "
            f"{MAX_DECISION_CHARACTERS}), none of them empty"
        )
    sure = args.get("confidence")
    if sure is not None and not 0 <= sure <= 1:
        raise ModelMistake("decide: confidence is a number from 0 to 1")
    before = [made for made in context.state.memory.decisions if has_same_subject(made.subject, subject)]
    if theirs := next((made for made in before if made.by == "person"), None):
        raise ModelMistake(f"decide: the user has decided that: {theirs.text}; `ask` if it has to change")
    made = Decision(text, "model", why, context.state.work.step + 1, subject, None if sure is None else float(sure))
    instead = next((f"; no longer: {old.text}" for old in before if old.by == "model" and old.text != text), "")
    return ToolOutcome(f"decided{instead}", events=(DecisionMade(made),))


DECIDE_SCHEMA = make_tool_schema(
    "decide", "Record a decision.", ("confidence",), subject="", decision="", why="",
    confidence=("number", "0-1"),
)  # fmt: skip
decide = FunctionTool(DECIDE_SCHEMA, record_decision)


MAX_PLAN_ITEMS = 12
MAX_ITEM_CHARACTERS = 200
DONE_MARK_PATTERN = re.compile(r"\[x\] *(\d{1,2})", re.IGNORECASE)


def set_plan(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    texts = [str(text) for text in args["items"]]
    marks = [DONE_MARK_PATTERN.fullmatch(text.strip()) for text in texts]
    numbers = [int(mark[1]) for mark in marks if mark]
    if context.state.work.plan and texts and len(numbers) == len(texts):
        return mark_items_done(context.state.work.plan, numbers)
    items = tuple(item_from_text(text) for text in texts)
    if len(items) > MAX_PLAN_ITEMS:
        raise ModelMistake(f"plan: {len(items)} items, {MAX_PLAN_ITEMS} are the most, so that it always fits")
    long = [str(number) for number, one in enumerate(items, 1) if len(one.text) > MAX_ITEM_CHARACTERS]
    told = f"; cut to {MAX_ITEM_CHARACTERS} characters: item {', '.join(long)}" if long else ""
    return ToolOutcome(
        f"plan set{told}",
        events=(PlanSet(tuple(replace(one, text=truncate_text(one.text, MAX_ITEM_CHARACTERS)) for one in items)),),
    )


def mark_items_done(plan: tuple[PlanItem, ...], numbers: list[int]) -> ToolOutcome:
    """Items of the plan by their numbers are done: to say all of it again would only cost."""
    if wrong := [number for number in numbers if not 0 < number <= len(plan)]:
        raise ModelMistake(f"plan: there is no item {wrong[0]}; it has {len(plan)}")
    done = tuple(replace(item, done=item.done or number in numbers) for number, item in enumerate(plan, 1))
    left = next((f"; next: {item.text}" for item in done if not item.done), "; all are done")
    return ToolOutcome(f"marked{left}", events=(PlanSet(done),))


def item_from_text(text: str) -> PlanItem:
    done = text.lower().startswith("[x]")
    return PlanItem(text[3:].strip() if text[:3].lower() in ("[x]", "[ ]") else text.strip(), done)


PLAN_SCHEMA = make_tool_schema("plan", "Set the plan (12 items of 200 characters), or tick item 2: '[x] 2'.", items=("array", ""))
plan = FunctionTool(PLAN_SCHEMA, set_plan)
