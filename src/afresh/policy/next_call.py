"""Which way a task goes: what the next call is for, from the state alone. One loop a file; all of them over the same step."""

from dataclasses import replace

from afresh.core.state import State
from afresh.core.states.strategy_state import PLAN_EXECUTE_STRATEGY, REACT_STRATEGY
from afresh.core.task import Task
from afresh.core.template import CallLayout, Template
from afresh.core.tool_traits import ToolTrait
from afresh.policy.phase_limits import press_layout, suggest_completion
from afresh.policy.strategies import plan_execute, react
from afresh.ports.tool import Tool

LAYOUT_ADJUSTERS = {REACT_STRATEGY: react.adjust_layout, PLAN_EXECUTE_STRATEGY: plan_execute.adjust_layout}


def choose_strategy(state: State, template: Template) -> str:
    """As it was turned to, as ordered with the task, as its type has it."""
    return state.work.strategy.name or state.task.loop or template.loop


def layout_for_next_call(state: State, template: Template) -> CallLayout:
    """What the next call is laid out by: its tools, and what its foot says of it. Pure."""
    layout = template.at(state.phase)
    if not template.phases:
        return layout
    if layout.opening and state.work.step == state.dialogue.turn_step:
        layout = replace(layout, guidance="\n".join(part for part in (layout.opening, layout.guidance) if part))
    layout = suggest_completion(layout, state)
    return press_layout(LAYOUT_ADJUSTERS[choose_strategy(state, template)](state, layout, template.pace), state, template.pace)


def select_task_tools(tools: tuple[Tool, ...], task: Task, template: Template) -> tuple[Tool, ...]:
    """The same in every call of a task, for the cache. Only who goes by a plan hands out its items."""
    return tuple(
        tool
        for tool in tools
        if ToolTrait.DELEGATES not in tool.traits or (task.parts and (task.loop or template.loop) == PLAN_EXECUTE_STRATEGY)
    )
