"""When a step ends with a checkpoint: by the clock, and once most of the steps that are allowed have been taken."""

from collections.abc import Sequence

from afresh.core.event import CheckpointWritten, Event, TaskEnded
from afresh.core.state import State
from afresh.runtime import Runtime

CHECKPOINT_INTERVAL_SECONDS = 15 * 60.0
"""Seconds."""
CHECKPOINT_STEP_PERCENT = 60
"""Per cent of the steps. Windows do not fill up from step to step, so the budget that runs out is that of steps."""


def find_checkpoint_reason(state: State, step: int, now: float) -> str:
    """Pure: why a checkpoint is due after `step`; empty when none is. `state` knows the last one from the journal."""
    mark = -(-state.work.limit * CHECKPOINT_STEP_PERCENT // 100)
    if state.times.checkpoint_step < mark <= step:
        return f"{step} of {state.work.limit} steps are taken, {CHECKPOINT_STEP_PERCENT} % of the budget"
    if state.times.checkpointed and now - state.times.checkpointed >= CHECKPOINT_INTERVAL_SECONDS:
        return f"{CHECKPOINT_INTERVAL_SECONDS / 60:.0f} minutes or more have passed since the last one"
    return ""


def add_checkpoint(state: State, events: Sequence[Event], runtime: Runtime) -> list[Event]:
    """What the step's commit ends with. A task that comes to rest needs none: its session file holds all."""
    if any(isinstance(event, TaskEnded) for event in events):
        return []
    why = find_checkpoint_reason(state, state.work.step + 1, runtime.clock.now())
    return [CheckpointWritten(state.work.step + 1, why)] if why else []
