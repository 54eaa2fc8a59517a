"""The plan, which every later prompt shows."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.event import PlanSet
from afresh.core.states.strategy_state import PlanItem
from afresh.core.step_result import ToolOutcome
from afresh.core.truncate import truncate_text
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext

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
    long = [str(number) for number, plan_item in enumerate(items, 1) if len(plan_item.text) > MAX_ITEM_CHARACTERS]
    note = f"; cut to {MAX_ITEM_CHARACTERS} characters: item {', '.join(long)}" if long else ""
    return ToolOutcome(
        f"plan set{note}",
        events=(
            PlanSet(tuple(replace(plan_item, text=truncate_text(plan_item.text, MAX_ITEM_CHARACTERS)) for plan_item in items)),
        ),
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


PLAN_SCHEMA = make_tool_schema("plan", "Set the plan, or tick item 2: '[x] 2'.", items=("array", ""))
tool = FunctionTool(PLAN_SCHEMA, set_plan)
