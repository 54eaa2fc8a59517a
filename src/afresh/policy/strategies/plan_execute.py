"""First a plan, then one item of it after another. What does not get done in its steps is planned anew."""

from dataclasses import replace

from afresh.core.state import State
from afresh.core.states.strategy_state import StrategyPace, find_focus_item, is_plan_outdated
from afresh.core.template import LOOKING_PHASES, CallLayout
from afresh.core.tool_traits import ToolTrait, select_tools_by_trait
from afresh.core.truncate import to_one_line
from afresh.core.verdict import Ruling

AFTER_PLAN = (ToolTrait.WRITES, ToolTrait.DELEGATES, ToolTrait.COMPLETES)
PLANNING = (ToolTrait.PLANS, ToolTrait.ASKS)
FIRST_PLAN_CUE = "First look, then `plan`, in one reply if you can: small items, each with its check. Changes come after it."
MAX_ITEM_CHARACTERS = 90
MAX_ITEM_REVERTS = 2
MAX_PLAN_REFUSALS = 2
"""Characters of an item in the foot; changes for one that were undone, and completions refused, until it is planned anew."""


def adjust_layout(state: State, layout: CallLayout, pace: StrategyPace) -> CallLayout:
    if is_plan_outdated(state.work.strategy, state.work.plan, state.work.plan_step):
        return adjust_planning_layout(state, layout, pace)
    place, many = find_focus_item(state.work.plan), len(state.work.plan)
    if place < 0:
        return replace(layout, cue="All items are done: hold the goal against the changes, then `complete`.")
    of = f" of {pace.item_steps}" if pace.item_steps else ""
    text = to_one_line(state.work.plan[place].text, MAX_ITEM_CHARACTERS)
    completing = select_tools_by_trait(layout.tools, ToolTrait.COMPLETES)
    last = sum(not item.done for item in state.work.plan) == 1
    mark = f'in the reply that finishes it, plan ["[x] {place + 1}"]{" and `complete`" if last else ""}'
    cue = f"Now item {place + 1} of {many}, step {state.work.strategy.steps + 1}{of}: {text}. Only this; {mark}."
    return replace(layout, cue=cue, closed=layout.closed if last else (*layout.closed, *completing))


def adjust_planning_layout(state: State, layout: CallLayout, pace: StrategyPace) -> CallLayout:
    """Nothing is changed before there is a plan; when it takes too long there is nothing else to do any more."""
    late = count_steps_over_plan_limit(state, layout, pace) >= 0
    cue = f"Make a new `plan`: {state.work.strategy.why}." if state.work.strategy.why else FIRST_PLAN_CUE
    planning = select_tools_by_trait(layout.tools, *PLANNING)
    closed = (
        tuple(tool for tool in layout.tools if tool not in planning) if late else select_tools_by_trait(layout.tools, *AFTER_PLAN)
    )
    return replace(layout, closed=(*layout.closed, *closed), cue=f"{cue} Now, with what you know." if late else cue, steps=0)


def count_steps_over_plan_limit(state: State, layout: CallLayout, pace: StrategyPace) -> int:
    """Steps over those that a plan may take: for the first one those of the phase, later those of an item. Below 0: in time."""
    allowed = layout.steps if layout.phase in LOOKING_PHASES and layout.steps else pace.item_steps
    return state.work.strategy.steps - allowed if allowed else -1


def find_reason_to_replan(state: State, pace: StrategyPace) -> str:
    """Why the plan is given up; empty while it holds."""
    loop, place = state.work.strategy, find_focus_item(state.work.plan)
    if is_plan_outdated(loop, state.work.plan, state.work.plan_step):
        return ""
    if (
        state.verification.refusals - loop.refusals >= MAX_PLAN_REFUSALS
        and state.verification.verdict
        and state.verification.verdict.ruling is not Ruling.PASS
    ):
        return f"completion was refused {MAX_PLAN_REFUSALS} times, last: {to_one_line(state.verification.verdict.reason, 160)}"
    named = f"item {place + 1} ({to_one_line(state.work.plan[place].text, 60)})" if place >= 0 else "the finished plan"
    if loop.undone >= MAX_ITEM_REVERTS:
        return f"{loop.undone} changes for {named} were undone"
    if pace.item_steps and loop.steps >= pace.item_steps:
        return f"{named} is not done after {loop.steps} steps"
    return ""
