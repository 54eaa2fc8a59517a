"""Which way a task goes: what the next call is for, from the state alone. One loop a file; all of them over the same step."""

from afresh.domain.state import State
from afresh.domain.strategy import PLAN_EXECUTE_STRATEGY, REACT_STRATEGY
from afresh.domain.template import CallLayout, Template
from afresh.engine.phase import press_layout
from afresh.engine.strategy import plan_execute, react

LAYOUT_ADJUSTERS = {REACT_STRATEGY: react.adjust_layout, PLAN_EXECUTE_STRATEGY: plan_execute.adjust_layout}


def choose_strategy(state: State, template: Template) -> str:
    """As it was turned to, as ordered with the task, as its type has it."""
    return state.loop.name or state.task.loop or template.loop


def layout_for_next_call(state: State, template: Template) -> CallLayout:
    """What the next call is laid out by: its tools, and what its foot says of it. Pure, so a call is built again the same way."""
    layout = template.at(state.phase)
    if not template.phases:
        return layout
    return press_layout(LAYOUT_ADJUSTERS[choose_strategy(state, template)](state, layout, template.pace), state, template.pace)
