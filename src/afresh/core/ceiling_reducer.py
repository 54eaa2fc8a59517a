"""What follows from an event for the ceiling: the fields of the state that change. `fold` puts them in."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from afresh.core import event as happened
from afresh.core.action import Observation
from afresh.core.ceiling_state import (
    CallFigures,
    CeilingPressure,
    CeilingState,
    change_ceiling,
    change_reserve,
    count_ceiling_step,
    count_reply,
    find_next_ceiling_down,
    update_tool_costs,
)
from afresh.core.prompt import CallAudit
from afresh.core.region import Region
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.token_calibration import add_sample, find_calibration, replace_calibration
from afresh.core.verdict import Ruling

CeilingEvent = (
    happened.CalibrationLoaded
    | happened.CeilingBreached
    | happened.LargerCeilingRequested
    | happened.CeilingChanged
    | happened.CheckpointWritten
    | happened.TokensCounted
    | happened.ReserveChanged
)
"""Events that concern nothing else."""


def apply_ceiling_event(event: CeilingEvent, state: State) -> dict[str, Any]:
    match event:
        case happened.CalibrationLoaded(meter):
            return {"meters": replace_calibration(state.meters, meter)}
        case happened.TokensCounted():
            return apply_token_count(event, state)
        case _:
            return {"room": reduce_ceiling(event, state)}


def reduce_ceiling(
    event: happened.CeilingBreached
    | happened.LargerCeilingRequested
    | happened.CeilingChanged
    | happened.ReserveChanged
    | happened.CheckpointWritten,
    state: State,
) -> CeilingState:
    match event:
        case happened.CeilingBreached():
            return replace(state.room, breaches=state.room.breaches + 1)
        case happened.LargerCeilingRequested(reason):
            return replace(state.room, wanted=reason)
        case happened.CeilingChanged(step, _, budget, reason):
            return change_ceiling(state.room, state.budget, budget, step, reason)
        case happened.ReserveChanged(_, before, share):
            return change_reserve(state.room, before, share)
        case happened.CheckpointWritten():
            return replace(state.room, saved=True)


def apply_token_count(count: happened.TokensCounted, state: State) -> dict[str, Any]:
    """One that is over teaches at once, for the window that is built next; of one that fits the reply will tell."""
    if not count.over:
        return {"weighed": count.step}
    meter = add_sample(find_calibration(state.meters, count.model), count.pieces, count.framing, count.counted)
    return {"meters": replace_calibration(state.meters, meter)}


def apply_request(call: CallAudit, state: State) -> dict[str, Any]:
    omitted = sum(gone.tokens for gone in call.omissions)
    reading = CallFigures(
        model=call.model, budget=call.budget, reserve=call.reserve, tokens=call.tokens, demand=call.demand, unmet=call.unmet,
        omitted=omitted, pieces=call.pieces, framing=call.framing, thinking=call.thinking,
    )  # fmt: skip
    saved = state.room.saved and reading.pressure is CeilingPressure.CRITICAL
    return {"reading": reading, "room": replace(state.room, saved=saved)}


def apply_reply(reply: Reply, state: State) -> dict[str, Any]:
    """Only a provider's own count teaches."""
    reading = state.reading
    room = {"room": count_reply(state.room, reading, reply.usage.output, reply.cramped)}
    if not reply.counted or not reading.pieces:
        return room
    meter = add_sample(find_calibration(state.meters, reading.model), reading.pieces, reading.framing, reply.usage.input)
    return {"reading": replace(reading, reported=reply.usage.input), "meters": replace_calibration(state.meters, meter), **room}


def apply_observations(observations: Sequence[Observation], state: State) -> dict[str, Any]:
    return {"costs": update_tool_costs(state.costs, observations)}


def note_reread(regions: Sequence[Region], state: State) -> CeilingState:
    """Whether a window that had no room for it has cost a step: most of what was read had been seen before."""
    read = [region for region in regions if not region.changed]
    again = state.reading.unmet > 0 and any(
        2 * count_known_lines(region, state.regions) > count_region_lines(region) for region in read
    )
    return replace(state.room, again=again)


def count_known_lines(new: Region, known: Sequence[Region]) -> int:
    return sum(
        max(0, min(new.end, old.end) - max(new.start, old.start) + 1)
        for old in known
        if old.path == new.path and old.step < new.step
    )  # fmt: skip


def count_region_lines(region: Region) -> int:
    return region.end - region.start + 1


def apply_step_end(step: int, state: State) -> dict[str, Any]:
    lower = find_next_ceiling_down(state.budget, state.task.budget)
    return {"room": count_ceiling_step(state.room, state.reading, has_step_worked(step, state), lower)}


def has_step_worked(step: int, state: State) -> bool:
    """Something in the reply worked, it was not undone, and if it claimed to be finished that was true."""
    last = state.recent[-1] if state.recent else None
    verdict = state.verdict if state.verdict_step == step else None
    refused = verdict is not None and verdict.final and verdict.ruling is not Ruling.PASS
    return last is not None and last.kept and not refused and any(seen.ok for seen in last.observations)
