"""The loop `react`: one action after another, each chosen after the result of the last."""

from dataclasses import replace

from afresh.core.state import State
from afresh.core.states.strategy_state import StrategyPace
from afresh.core.template import CallLayout

REPLAN_NOTICE_STEPS = 3
"""Steps for which a window tells that another way was taken."""


def adjust_layout(state: State, layout: CallLayout, pace: StrategyPace) -> CallLayout:
    turn = state.work.strategy
    if not turn.why or state.work.step >= turn.since + REPLAN_NOTICE_STEPS:
        return layout
    return replace(layout, cue=f"Try a different approach: {turn.why}.")
