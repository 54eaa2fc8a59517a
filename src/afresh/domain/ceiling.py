"""What follows from an event for the ceiling: the fields of the state that change. `fold` puts them in."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from afresh.domain import event as happened
from afresh.domain.action import Observation, Reply
from afresh.domain.cost import learnt
from afresh.domain.fact import Region
from afresh.domain.meter import kept, meter_of, taught
from afresh.domain.pressure import Pressure, Reading
from afresh.domain.room import Room, answered, below, changed_to, reserved_as, stepped
from afresh.domain.state import State
from afresh.domain.verdict import Ruling
from afresh.domain.window import Audit

Turn = (
    happened.Calibrated | happened.Breached | happened.Wanted | happened.Rebudgeted | happened.Checkpointed | happened.Weighed
    | happened.Reserved
)  # fmt: skip
"""Events that concern nothing else."""


def turned(event: Turn, state: State) -> dict[str, Any]:
    match event:
        case happened.Calibrated(meter):
            return {"meters": kept(state.meters, meter)}
        case happened.Weighed():
            return weighed(event, state)
        case _:
            return {"room": room_after(event, state)}


def room_after(
    event: happened.Breached | happened.Wanted | happened.Rebudgeted | happened.Reserved | happened.Checkpointed, state: State
) -> Room:
    match event:
        case happened.Breached():
            return replace(state.room, breaches=state.room.breaches + 1)
        case happened.Wanted(reason):
            return replace(state.room, wanted=reason)
        case happened.Rebudgeted(step, _, budget, reason):
            return changed_to(state.room, state.budget, budget, step, reason)
        case happened.Reserved(_, before, share):
            return reserved_as(state.room, before, share)
        case happened.Checkpointed():
            return replace(state.room, saved=True)


def weighed(count: happened.Weighed, state: State) -> dict[str, Any]:
    """One that is over teaches at once, for the window that is built next; of one that fits the reply will tell."""
    if not count.over:
        return {"weighed": count.step}
    meter = taught(meter_of(state.meters, count.model), count.pieces, count.framing, count.counted)
    return {"meters": kept(state.meters, meter)}


def requested(call: Audit, state: State) -> dict[str, Any]:
    omitted = sum(gone.tokens for gone in call.omissions)
    reading = Reading(
        model=call.model, budget=call.budget, reserve=call.reserve, tokens=call.tokens, demand=call.demand, unmet=call.unmet,
        omitted=omitted, pieces=call.pieces, framing=call.framing, thinking=call.thinking,
    )  # fmt: skip
    saved = state.room.saved and reading.pressure is Pressure.CRITICAL
    return {"reading": reading, "room": replace(state.room, saved=saved)}


def replied(reply: Reply, state: State) -> dict[str, Any]:
    """Only a provider's own count teaches."""
    reading = state.reading
    room = {"room": answered(state.room, reading, reply.usage.output, reply.cramped)}
    if not reply.counted or not reading.pieces:
        return room
    meter = taught(meter_of(state.meters, reading.model), reading.pieces, reading.framing, reply.usage.input)
    return {"reading": replace(reading, reported=reply.usage.input), "meters": kept(state.meters, meter), **room}


def acted(observations: Sequence[Observation], state: State) -> dict[str, Any]:
    return {"costs": learnt(state.costs, observations)}


def looked(regions: Sequence[Region], state: State) -> Room:
    """Whether a window that had no room for it has cost a step: most of what was read had been seen before."""
    read = [region for region in regions if not region.changed]
    again = state.reading.unmet > 0 and any(2 * known_lines(region, state.regions) > lines(region) for region in read)
    return replace(state.room, again=again)


def known_lines(new: Region, known: Sequence[Region]) -> int:
    return sum(
        max(0, min(new.end, old.end) - max(new.start, old.start) + 1)
        for old in known
        if old.path == new.path and old.step < new.step
    )  # fmt: skip


def lines(region: Region) -> int:
    return region.end - region.start + 1


def finished(step: int, state: State) -> dict[str, Any]:
    lower = below(state.budget, state.task.budget)
    return {"room": stepped(state.room, state.reading, worked(step, state), lower)}


def worked(step: int, state: State) -> bool:
    """Something in the reply worked, it was not undone, and if it claimed to be finished that was true."""
    last = state.recent[-1] if state.recent else None
    verdict = state.verdict if state.verdict_step == step else None
    refused = verdict is not None and verdict.final and verdict.ruling is not Ruling.PASS
    return last is not None and last.kept and not refused and any(seen.ok for seen in last.observations)
