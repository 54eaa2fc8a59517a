"""One action after another, each chosen by what the last one showed."""

from dataclasses import replace

from afresh.domain.state import State
from afresh.domain.strategy import Pace
from afresh.domain.template import Layout

TOLD = 3
"""Steps for which a window tells that another way was taken."""


def led(state: State, layout: Layout, pace: Pace) -> Layout:
    turn = state.loop
    if not turn.why or state.step >= turn.since + TOLD:
        return layout
    return replace(layout, cue=f"Go another way than before: {turn.why}.")
