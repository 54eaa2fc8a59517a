"""Ask the provider for its own count of a window before it is bought, as long as ours may be too low."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.core.event import Event
from afresh.core.prompt import CallAudit, Prompt
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.token_calibration import (
    CalibrationLoaded,
    CeilingBreached,
    TokensCounted,
    UsageReportDoubted,
    compute_tokens_per_piece,
    find_calibration,
)
from afresh.core.tokens import EstimatingCounter, count_request_pieces
from afresh.ports.model import Model
from afresh.runtime import Runtime


def adopt_project_calibration(state: State, runtime: Runtime) -> list[Event]:
    """A task that is new to the model starts from what others have learnt. Recorded, so that a resumed run counts alike."""
    known = find_calibration(state.tokens.calibrations, runtime.model.name).samples
    return [CalibrationLoaded(runtime.settings.calibration)] if runtime.settings.calibration.samples and not known else []


def calibrate_counter(state: State, runtime: Runtime) -> EstimatingCounter:
    meter = find_calibration(state.tokens.calibrations, runtime.model.name)
    return replace(runtime.settings.counter, factor=meter.factor) if meter.ratios else runtime.settings.counter


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


MIN_FILL_TO_ASK_SHARE = 0.6
MIN_PROVIDER_REPORTS = 2
"""Part of what may be sent from which the count matters; and reports of a provider's that are not enough to go by."""


def provider_count(window: Prompt, state: State, model: Model, counter: EstimatingCounter) -> TokensCounted | None:
    """To be recorded, so that a resumed run counts alike and asks no second time. None: there is no need, or no count."""
    if state.tokens.counted_step == state.work.step + 1 or not _is_estimate_doubtful(window, state, model.name):
        return None
    count = model.weigh(window.request)
    if not count:
        return None
    return TokensCounted(
        step=state.work.step + 1, model=model.name, estimated=window.tokens, counted=count, reserve=window.request.reserve,
        budget=window.budget, pieces=count_request_pieces(window.request), framing=counter.around(window.request),
    )  # fmt: skip


def _is_estimate_doubtful(window: Prompt, state: State, model: str) -> bool:
    """Near the ceiling, with little known of the model's count, or after a call that was over."""
    last = state.tokens.last_call
    breached = last.model == model and last.reported + last.reserve > last.budget > 0
    known = find_calibration(state.tokens.calibrations, model).samples + (state.tokens.counted_step > 0)
    return window.tokens >= MIN_FILL_TO_ASK_SHARE * (window.budget - window.request.reserve) and (
        breached or known < MIN_PROVIDER_REPORTS
    )
