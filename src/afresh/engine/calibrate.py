"""The counter for the next call, and what is made of the provider's own count after it."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.domain.action import Reply
from afresh.domain.event import Breached, Calibrated, Doubted, Event
from afresh.domain.meter import meter_of, ratio
from afresh.domain.state import State
from afresh.domain.window import Audit
from afresh.engine.agent import Agent
from afresh.engine.tokens import Counter


def calibrated(state: State, agent: Agent) -> list[Event]:
    """A task that is new to the model starts from what others have learnt. Recorded, so that a resumed run counts alike."""
    known = meter_of(state.meters, agent.model.name).samples
    return [Calibrated(agent.learnt)] if agent.learnt.samples and not known else []


def counter_for(state: State, agent: Agent) -> Counter:
    meter = meter_of(state.meters, agent.model.name)
    return replace(agent.counter, factor=meter.factor) if meter.ratios else agent.counter


def weighed(step: int, call: Audit, reply: Reply) -> Sequence[Event]:
    """The ceiling is checked again, against the provider's count: what went over, or makes no sense, goes on record."""
    reported = reply.usage.input
    if not reply.counted:
        return ()
    if ratio(call.pieces, call.framing, reported) is None:
        return (Doubted(step, call.tokens, reported),)
    if reported + call.reserve > call.budget:
        return (Breached(step, call.tokens, reported, call.reserve, call.budget),)
    return ()
