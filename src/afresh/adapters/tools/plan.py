"""Set the plan: it has a permanent place in every window."""

from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.domain.event import Planned
from afresh.domain.fact import PlanItem
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome

ITEMS, LENGTH = 12, 200


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    items = tuple(item(str(text)) for text in args["items"])
    if len(items) > ITEMS or any(len(one.text) > LENGTH for one in items):
        raise ModelMistake(f"plan: at most {ITEMS} items of {LENGTH} characters, so that it always fits")
    return Outcome("plan set", events=(Planned(items),))


def item(text: str) -> PlanItem:
    done = text.lower().startswith("[x]")
    return PlanItem(text[3:].strip() if text[:3].lower() in ("[x]", "[ ]") else text.strip(), done)


plan = schema("plan", "Replace the plan: at most 12 items of 200 characters, '[x] …' when done.", items=("array", ""))
tool = FunctionTool(plan, run)
