"""The agent may put its past away, but only where nothing is half done."""

from typing import Any, cast

import pytest

from afresh.actions.tools.registry import TOOLS
from afresh.core.event import CompactionRequested
from afresh.core.line_region import Region
from afresh.core.states.strategy_state import PlanItem
from afresh.core.step_history import Summary
from afresh.core.step_record import StepRecord
from afresh.core.task import Check, Task
from afresh.core.verdict import Ruling, Verdict
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext
from support.states import make_state

CHANGED = (Region("a.py", 1, 2, 5, changed=True),)
PASSED, FAILED = Verdict(Ruling.PASS, "3 passed"), Verdict(Ruling.FAIL, "1 failed")
OPEN = (PlanItem("mend a.py", done=True), PlanItem("then b.py"))


def use(keep="a.py is done", **fields):
    state = make_state(Task(id="t", goal="g", checks=(Check("pytest -q"),)), **{"step": 6, **fields})
    (tool,) = [tool for tool in TOOLS if tool.schema.name == "note"]
    rest = cast(Any, None)
    return tool.run({"subject": "compact", "text": keep}, ToolContext(state, rest, rest, rest, rest))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"regions": CHANGED, "verdict": PASSED, "verdict_step": 5},
        {"regions": CHANGED, "verdict": PASSED, "verdict_step": 5, "plan": OPEN, "plan_step": 5},
        {"regions": CHANGED, "verdict": PASSED, "verdict_step": 5, "plan": (PlanItem("a", done=True),), "plan_step": 1},
    ],
    ids=["nothing changed", "verified", "plan up to date", "plan done"],
)
def test_at_a_clean_boundary_it_is_granted(fields):
    assert use(**fields).events == (CompactionRequested("a.py is done"),)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"regions": CHANGED}, "the last change is not verified"),
        ({"regions": CHANGED, "verdict": PASSED, "verdict_step": 4}, "the last change is not verified"),
        ({"regions": CHANGED, "verdict": FAILED, "verdict_step": 5}, r"did not pass \(1 failed\)"),
        ({"recent": (StepRecord(6, "", (), "", kept=False),)}, "was undone"),
        ({"regions": CHANGED, "verdict": PASSED, "verdict_step": 5, "plan": OPEN, "plan_step": 4}, "half done: bring the plan"),
        ({"keep": " "}, "must not be empty"),
        ({"summary": Summary(keep=("y" * 300, "z" * 300, "w" * 299))}, 'withdraw some first, with the text "no longer: '),
    ],
    ids=["not verified", "changed since", "failed", "undone", "plan is behind", "no words", "no room for more"],
)
def test_anywhere_else_it_is_refused_with_the_reason(fields, why):
    with pytest.raises(ModelMistake, match=why):
        use(**fields)


def test_what_is_to_be_kept_is_cut_to_its_limit_and_the_result_says_so():
    done = use(keep="x" * 601)
    (event,) = done.events
    assert isinstance(event, CompactionRequested) and len(event.keep) == 600 and "(cut to 600 characters)" in done.text
