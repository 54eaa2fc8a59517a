"""Set the plan: it has a permanent place in every window."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.domain.event import Planned
from afresh.domain.fact import PlanItem
from afresh.domain.text import cut
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome

ITEMS = 12
LENGTH = 200
MARK = re.compile(r"\[x\] *(\d{1,2})", re.IGNORECASE)


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    texts = [str(text) for text in args["items"]]
    marks = [MARK.fullmatch(text.strip()) for text in texts]
    numbers = [int(mark[1]) for mark in marks if mark]
    if bench.state.plan and texts and len(numbers) == len(texts):
        return marked(bench.state.plan, numbers)
    items = tuple(item(text) for text in texts)
    if len(items) > ITEMS:
        raise ModelMistake(f"plan: {len(items)} items, {ITEMS} are the most, so that it always fits")
    long = [str(number) for number, one in enumerate(items, 1) if len(one.text) > LENGTH]
    told = f"; cut to {LENGTH} characters: item {', '.join(long)}" if long else ""
    return Outcome(f"plan set{told}", events=(Planned(tuple(replace(one, text=cut(one.text, LENGTH)) for one in items)),))


def marked(plan: tuple[PlanItem, ...], numbers: list[int]) -> Outcome:
    """Items of the plan by their numbers are done: to say all of it again would only cost."""
    if wrong := [number for number in numbers if not 0 < number <= len(plan)]:
        raise ModelMistake(f"plan: there is no item {wrong[0]}; it has {len(plan)}")
    done = tuple(replace(item, done=item.done or number in numbers) for number, item in enumerate(plan, 1))
    left = next((f"; next: {item.text}" for item in done if not item.done), "; all are done")
    return Outcome(f"marked{left}", events=(Planned(done),))


def item(text: str) -> PlanItem:
    done = text.lower().startswith("[x]")
    return PlanItem(text[3:].strip() if text[:3].lower() in ("[x]", "[ ]") else text.strip(), done)


plan = schema("plan", "Set the plan (12 items of 200 characters), or tick item 2: '[x] 2'.", items=("array", ""))
tool = FunctionTool(plan, run)
