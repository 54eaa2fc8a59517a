"""The counter for the next call, and what is made of the provider's own count after it."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.domain.action import Reply
from afresh.domain.event import CeilingBreached, CalibrationLoaded, UsageReportDoubted, Event
from afresh.domain.meter import find_calibration, compute_tokens_per_piece
from afresh.domain.state import State
from afresh.domain.window import CallAudit
from afresh.engine.agent import Runtime
from afresh.engine.tokens import EstimatingCounter


def adopt_project_calibration(state: State, agent: Runtime) -> list[Event]:
    """A task that is new to the model starts from what others have learnt. Recorded, so that a resumed run counts alike."""
    known = find_calibration(state.meters, agent.model.name).samples
    return [CalibrationLoaded(agent.learnt)] if agent.learnt.samples and not known else []


def calibrate_counter(state: State, agent: Runtime) -> EstimatingCounter:
    meter = find_calibration(state.meters, agent.model.name)
    return replace(agent.counter, factor=meter.factor) if meter.ratios else agent.counter


def check_reported_usage(step: int, call: CallAudit, reply: Reply) -> Sequence[Event]:
    """The ceiling is checked again, against the provider's count: what went over, or makes no sense, goes on record."""
    reported = reply.usage.input
    if not reply.counted:
        return ()
    if compute_tokens_per_piece(call.pieces, call.framing, reported) is None:
        return (UsageReportDoubted(step, call.tokens, reported),)
    if reported + call.reserve > call.budget:
        return (CeilingBreached(step, call.tokens, reported, call.reserve, call.budget),)
    return ()
