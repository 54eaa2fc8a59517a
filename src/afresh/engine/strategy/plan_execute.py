"""First a plan, then one item of it after another. What does not get done in its steps is planned anew."""

from dataclasses import replace

from afresh.domain.state import State
from afresh.domain.strategy import Pace, in_focus, outdated
from afresh.domain.template import Layout
from afresh.domain.text import one_line
from afresh.domain.verdict import Ruling

CHANGING = ("edit", "write", "apply", "delegate", "complete")
PLANNING = ("plan", "ask")
FIRST = "First look, then `plan`, in one reply if you can: small items, each with its check. Changes come after it."
ITEM = 90
REVERTS = 2
REFUSALS = 2
"""Characters of an item in the foot; changes for one that were undone, and completions refused, until it is planned anew."""


def led(state: State, layout: Layout, pace: Pace) -> Layout:
    if outdated(state.loop, state.plan, state.planned):
        return planning(state, layout, pace)
    place, many = in_focus(state.plan), len(state.plan)
    if place < 0:
        return replace(layout, cue="All items are done: hold the goal against the changes, then `complete`.")
    of = f" of {pace.item_steps}" if pace.item_steps else ""
    text = one_line(state.plan[place].text, ITEM)
    last = sum(not item.done for item in state.plan) == 1
    mark = f'in the reply that finishes it, plan ["[x] {place + 1}"]{" and `complete`" if last else ""}'
    cue = f"Now item {place + 1} of {many}, step {state.loop.steps + 1}{of}: {text}. Only this; {mark}."
    return replace(layout, cue=cue, closed=layout.closed if last else (*layout.closed, "complete"))


def planning(state: State, layout: Layout, pace: Pace) -> Layout:
    """Nothing is changed before there is a plan; when it takes too long there is nothing else to do any more."""
    late = planned_late(state, layout, pace) >= 0
    cue = f"`plan` anew: {state.loop.why}." if state.loop.why else FIRST
    closed = tuple(tool for tool in layout.tools if tool not in PLANNING) if late else CHANGING
    return replace(layout, closed=(*layout.closed, *closed), cue=f"{cue} Now, with what you know." if late else cue, steps=0)


def planned_late(state: State, layout: Layout, pace: Pace) -> int:
    """Steps over those that a plan may take: for the first one those of the phase, later those of an item. Below 0: in time."""
    allowed = layout.steps if layout.phase == "understand" and layout.steps else pace.item_steps
    return state.loop.steps - allowed if allowed else -1


def turn_due(state: State, pace: Pace) -> str:
    """Why the plan is given up; empty while it holds."""
    loop, place = state.loop, in_focus(state.plan)
    if outdated(loop, state.plan, state.planned):
        return ""
    if state.refusals - loop.refusals >= REFUSALS and state.verdict and state.verdict.ruling is not Ruling.PASS:
        return f"completion was refused {REFUSALS} times, last: {one_line(state.verdict.reason, 160)}"
    named = f"item {place + 1} ({one_line(state.plan[place].text, 60)})" if place >= 0 else "the finished plan"
    if loop.undone >= REVERTS:
        return f"{loop.undone} changes for {named} were undone"
    if pace.item_steps and loop.steps >= pace.item_steps:
        return f"{named} is not done after {loop.steps} steps"
    return ""
