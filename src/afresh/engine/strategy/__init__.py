"""Which way a task goes: what the next call is for, from the state alone. One loop a file; all of them over the same step."""

from afresh.domain.state import State
from afresh.domain.strategy import PLAN_EXECUTE, REACT
from afresh.domain.template import Layout, Template
from afresh.engine.phase import pressed
from afresh.engine.strategy import plan_execute, react

LOOPS = {REACT: react.led, PLAN_EXECUTE: plan_execute.led}


def loop_of(state: State, template: Template) -> str:
    """As it was turned to, as ordered with the task, as its type has it."""
    return state.loop.name or state.task.loop or template.loop


def directed(state: State, template: Template) -> Layout:
    """What the next call is laid out by: its tools, and what its foot says of it. Pure, so a call is built again the same way."""
    layout = template.at(state.phase)
    if not template.phases:
        return layout
    return pressed(LOOPS[loop_of(state, template)](state, layout, template.pace), state, template.pace)
