"""How much room a call gets: as ordered, more for a reason, and back again. Every change is on record."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.domain.event import Checkpointed, Rebudgeted, Reserved
from afresh.domain.outlook import can_afford, projected
from afresh.domain.pressure import LITTLE, Pressure, Reading, pressure
from afresh.domain.room import PATIENCE, above, below
from afresh.domain.state import State
from afresh.domain.task import Task
from afresh.domain.template import Share, Template
from afresh.domain.text import one_line
from afresh.domain.window import Window
from afresh.engine.agent import Agent
from afresh.engine.calibrate import counter_for
from afresh.engine.delegation import at_hand
from afresh.engine.recall import instructed
from afresh.engine.record import record
from afresh.errors import OverCeiling

SHARE_OF_WINDOW = 5
"""A call takes at most one part in this many of what the model can take."""
GROWTH = 1.6
MOST_RESERVE = 0.5
LEFT_FOR_WORK = 0.2
WORTH_IT = 1.15
"""By how much the reserve of a reply grows that was too short, up to which share of the ceiling; which share stays for what may
be left out; and growth that is too little to be of use."""
FAILURES = 2
"""Steps in a row that fail while something is left out."""
YIELDING = ("graph", "history", "coverage", "callers", "contracts", "similar", "outline")
"""Sections that give way under pressure: worth showing while there is room, and found by `search` otherwise."""


def most(task: Task, window: int) -> int:
    """The highest ceiling: by the user's limit and by the model's window. Never below what was ordered."""
    return max(task.budget, min(task.budget_limit, window // SHARE_OF_WINDOW))


def decide(state: State, cap: int) -> Rebudgeted | None:
    """Pure: what the steps so far say about the ceiling. At most one level at a time."""
    room, budget, ordered = state.room, state.budget, state.task.budget
    if budget > cap:
        return Rebudgeted(state.step, budget, cap, f"{cap:,} is the most that this model's window and the task's limit allow")
    larger, lower = above(budget, ordered, cap), below(budget, ordered)
    if room.wanted:
        limit = "" if larger > budget else f", but {budget:,} is the limit"
        return Rebudgeted(state.step, budget, larger, f"the agent asked: {one_line(room.wanted, 200)}{limit}")
    if room.failing >= FAILURES and larger > budget:
        return Rebudgeted(state.step, budget, larger, f"{room.failing} steps in a row failed while {left_out(state.reading)}")
    if room.again and larger > budget:
        why = f"lines that had been seen were read again while {state.reading.unmet:,} tokens that were asked for had no room"
        return Rebudgeted(state.step, budget, larger, why)
    if lower < budget and room.calm >= room.patience and holds(state, lower):
        why = f"{room.calm} calm steps in a row: {projected(state, lower):,} of {lower:,} tokens are enough for the next"
        return Rebudgeted(state.step, budget, lower, why)
    return None


def spoken(state: State, usual: float, cap: int) -> Reserved | Rebudgeted | None:
    """Pure: what the replies so far say about the room that is kept for them. More of the same ceiling first; a larger one where
    what is never left out has taken the rest; and as usual again when that would have been enough for a while."""
    room, last, budget = state.room, state.reading, state.budget
    share = room.reserve or usual
    if room.reserve and room.short >= PATIENCE:
        return Reserved(state.step, room.reserve, 0.0, f"{room.short} replies in a row had room in the usual {room.usual:.0%}")
    if not room.cramped or not last.budget:
        return None
    never = last.demand - last.reserve + last.thinking
    free = (budget * (1 - LEFT_FOR_WORK) - never) / max(1, budget - last.thinking)
    grown, larger = min(GROWTH * share, MOST_RESERVE, free), above(budget, state.task.budget, cap)
    why = f"{last.reserve:,} tokens were too few for the last reply"
    if grown >= share * WORTH_IT:
        return Reserved(state.step, share, round(grown, 3), why)
    return Rebudgeted(state.step, budget, larger, why) if larger > budget else None


def left_out(reading: Reading) -> str:
    if reading.unmet:
        return f"{reading.unmet:,} tokens that were asked for had no room"
    return f"about {reading.omitted:,} tokens were left out of the window"


def holds(state: State, lower: int) -> bool:
    """What the last steps used would have its place under the lower ceiling, and so would its like."""
    tools = {seen.action.tool for past in state.recent[-state.room.patience :] for seen in past.observations}
    return projected(state, lower) <= lower and all(can_afford(state, tool, lower) for tool in tools)


def afford(state: State, agent: Agent) -> State:
    """The ceiling for the next call, from what the steps so far have shown."""
    cap = most(state.task, agent.model.window)
    if speech := spoken(state, agent.template.at(state.phase).reserve, cap):
        state = record(state, agent, [speech])
    change = decide(state, cap)
    if change and (not change.budget < state.budget <= cap or instructions_fit(state, agent, change.budget)):
        state = record(state, agent, [change])
    if state.reading.pressure is Pressure.CRITICAL and not state.room.saved:
        why = f"what is never left out took {state.reading.demand:,} of {state.reading.budget:,} tokens"
        state = record(state, agent, [Checkpointed(state.step, why)])
    return state


def instructions_fit(state: State, agent: Agent, ceiling: int) -> bool:
    """Otherwise a lower ceiling would have to be raised again at once."""
    try:
        list(instructed(state, agent, ceiling))
    except OverCeiling:
        return False
    return True


def attuned(state: State, agent: Agent) -> Agent:
    """The agent with the counter that was learnt, the tools that the task has, and with a template that makes room when the
    last call was under pressure."""
    template = spacious(agent.template, state.room.reserve)
    template = template if state.reading.pressure is Pressure.CALM else eased(template)
    return replace(
        agent, counter=counter_for(state, agent), template=suited(template, state, agent), tools=at_hand(agent.tools, state.task)
    )


def suited(template: Template, state: State, agent: Agent) -> Template:
    """To the model that is asked: only some can be told how long to think, and take their own last reply back."""
    thinking = state.task.thinking if agent.native else 0
    if thinking is not None:
        phases = tuple(replace(phase, thinking=thinking) for phase in template.phases)
        template = replace(template, thinking=thinking, phases=phases)
    return replace(template, native=agent.native and state.reading.model == agent.model.name)


def spacious(template: Template, share: float) -> Template:
    """With at least this share of the ceiling for the reply."""
    phases = tuple(replace(phase, reserve=max(phase.reserve, share)) for phase in template.phases)
    return replace(template, reserve=max(template.reserve, share), phases=phases)


def eased(template: Template) -> Template:
    """The yielding sections come last and get what all others leave."""
    phases = tuple(replace(phase, shares=yielding(phase.shares)) for phase in template.phases)
    return replace(template, shares=yielding(template.shares), phases=phases)


def yielding(shares: Sequence[Share]) -> tuple[Share, ...]:
    last = sorted((replace(share, part=0.0) for share in shares if share.section in YIELDING), key=place)
    return (*[share for share in shares if share.section not in YIELDING], *last)


def place(share: Share) -> int:
    return YIELDING.index(share.section)


def uncramped(window: Window, state: State, agent: Agent) -> Window:
    """The window, unless the ceiling can still be raised and either hardly anything but what must be in has room, or what was
    just looked at has none, and would have it then: to be asked for it again costs a step."""
    larger = above(state.budget, state.task.budget, most(state.task, agent.model.window))
    if larger == state.budget:
        return window
    if pressure(window.demand, window.budget) is Pressure.CRITICAL:
        raise OverCeiling(f"critical pressure: what is never left out takes {window.demand:,} of {window.budget:,} tokens")
    if LITTLE < window.unread <= (larger - state.budget) * 3 // 4:
        raise OverCeiling(f"{window.unread:,} tokens of what the last step has looked at have no room")
    return window


def enlarged(state: State, agent: Agent, fault: OverCeiling) -> State:
    """One level up, with a checkpoint. When there is none, replies give back what they had beyond the usual; then the fault
    stands."""
    larger = above(state.budget, state.task.budget, most(state.task, agent.model.window))
    if larger == state.budget and state.room.reserve:
        return record(state, agent, [Reserved(state.step, state.room.reserve, 0.0, fault.evidence)])
    if larger == state.budget:
        raise fault
    change = Rebudgeted(state.step, state.budget, larger, fault.evidence)
    return record(state, agent, [change, Checkpointed(state.step, fault.evidence)])
