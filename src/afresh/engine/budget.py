"""How much room a call gets: as ordered, more for a reason, and back again. Every change is on record."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.domain.event import Checkpointed, Rebudgeted
from afresh.domain.outlook import can_afford, projected
from afresh.domain.pressure import LITTLE, Pressure, Reading, pressure
from afresh.domain.room import above, below
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
    """The agent with the counter that was learnt, the tools that are of use now, and with a template that makes room when the
    last call was under pressure."""
    template = agent.template if state.reading.pressure is Pressure.CALM else eased(agent.template)
    return replace(
        agent, counter=counter_for(state, agent), template=suited(template, state, agent), tools=at_hand(agent.tools, state)
    )


def suited(template: Template, state: State, agent: Agent) -> Template:
    """To the model that is asked: only some can be told how long to think, and take their own last reply back."""
    thinking = state.task.thinking if agent.native else 0
    if thinking is not None:
        phases = tuple(replace(phase, thinking=thinking) for phase in template.phases)
        template = replace(template, thinking=thinking, phases=phases)
    return replace(template, native=agent.native and state.reading.model == agent.model.name)


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
    """One level up, with a checkpoint; the fault stands when there is none."""
    larger = above(state.budget, state.task.budget, most(state.task, agent.model.window))
    if larger == state.budget:
        raise fault
    change = Rebudgeted(state.step, state.budget, larger, fault.evidence)
    return record(state, agent, [change, Checkpointed(state.step, fault.evidence)])
