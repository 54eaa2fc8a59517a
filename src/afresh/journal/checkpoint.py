"""When a step ends with a checkpoint: by the clock, and at a share of the steps or of a call."""

from collections.abc import Sequence

from afresh.core.event import CheckpointWritten, Event, TaskEnded
from afresh.core.state import CHECKPOINT_PERCENT, State
from afresh.runtime import Runtime

CHECKPOINT_INTERVAL_SECONDS = 15 * 60.0
"""Seconds."""


def find_checkpoint_reason(state: State, step: int, now: float) -> str:
    """Why a checkpoint is due after `step`; empty if none is. `state` knows the last one."""
    mark = -(-state.work.limit * CHECKPOINT_PERCENT // 100)
    if state.times.checkpoint_step < mark <= step:
        return f"{step} of {state.work.limit} steps are taken, {CHECKPOINT_PERCENT} % of the budget"
    if state.is_crowded and not state.times.crowded:
        last = state.tokens.last_call
        return f"the prompt filled {last.fill:.0%} of its {last.budget - last.reserve:,} tokens"
    if state.times.checkpointed and now - state.times.checkpointed >= CHECKPOINT_INTERVAL_SECONDS:
        return f"{CHECKPOINT_INTERVAL_SECONDS / 60:.0f} minutes or more have passed since the last one"
    return ""


def add_checkpoint(state: State, events: Sequence[Event], runtime: Runtime) -> list[Event]:
    """The last events of the step's commit. A task that ends needs none: its session file holds all."""
    if any(isinstance(event, TaskEnded) for event in events):
        return []
    why = find_checkpoint_reason(state, state.work.step + 1, runtime.clock.now())
    return [CheckpointWritten(state.work.step + 1, why)] if why else []
