"""Ask the provider for its own count of a window before it is bought, as long as ours may be too low."""

from afresh.domain.meter import find_calibration
from afresh.domain.state import State
from afresh.domain.weighing import TokensCounted
from afresh.domain.window import Prompt
from afresh.engine.agent import Runtime
from afresh.engine.tokens import count_request_pieces

MIN_FILL_TO_ASK_SHARE = 0.6
MIN_PROVIDER_REPORTS = 2
"""Part of what may be sent from which the count matters; and reports of a provider's that are not enough to go by."""


def provider_count(window: Prompt, state: State, agent: Runtime) -> TokensCounted | None:
    """To be recorded, so that a resumed run counts alike and asks no second time. None: there is no need, or no count."""
    if state.weighed == state.step + 1 or not _is_estimate_doubtful(window, state, agent):
        return None
    count = agent.model.weigh(window.request)
    if not count:
        return None
    return TokensCounted(
        step=state.step + 1, model=agent.model.name, estimated=window.tokens, counted=count, reserve=window.request.reserve,
        budget=window.budget, pieces=count_request_pieces(window.request), framing=agent.counter.around(window.request),
    )  # fmt: skip


def _is_estimate_doubtful(window: Prompt, state: State, agent: Runtime) -> bool:
    """Near the ceiling, with little known of the model's count, or after a call that was over."""
    last = state.reading
    breached = last.model == agent.model.name and last.reported + last.reserve > last.budget > 0
    known = find_calibration(state.meters, agent.model.name).samples + (state.weighed > 0)
    return window.tokens >= MIN_FILL_TO_ASK_SHARE * (window.budget - window.request.reserve) and (
        breached or known < MIN_PROVIDER_REPORTS
    )
