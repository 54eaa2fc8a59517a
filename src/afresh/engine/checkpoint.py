"""When a step ends with a checkpoint: by the clock, and once most of the steps that are allowed have been taken."""

from collections.abc import Sequence

from afresh.domain.event import Checkpointed, Ended, Event
from afresh.domain.state import State
from afresh.engine.agent import Agent

EVERY = 15 * 60.0
"""Seconds."""
SHARE = 60
"""Per cent of the steps. Windows do not fill up from step to step, so the budget that runs out is that of steps."""


def due(state: State, step: int, now: float) -> str:
    """Pure: why a checkpoint is due after `step`; empty when none is. `state` knows the last one from the journal."""
    mark = -(-state.limit * SHARE // 100)
    if state.checkpoint_step < mark <= step:
        return f"{step} of {state.limit} steps are taken, {SHARE} % of the budget"
    if state.checkpointed and now - state.checkpointed >= EVERY:
        return f"{EVERY / 60:.0f} minutes or more have passed since the last one"
    return ""


def checkpointed(state: State, events: Sequence[Event], agent: Agent) -> list[Event]:
    """What the step's commit ends with. A task that comes to rest needs none: its session file holds all."""
    if any(isinstance(event, Ended) for event in events):
        return []
    why = due(state, state.step + 1, agent.clock.now())
    return [Checkpointed(state.step + 1, why)] if why else []
