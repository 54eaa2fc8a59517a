"""Ask the provider for its own count of a window before it is bought, as long as ours may be too low."""

from afresh.domain.meter import meter_of
from afresh.domain.state import State
from afresh.domain.weighing import Weighed
from afresh.domain.window import Window
from afresh.engine.agent import Agent
from afresh.engine.tokens import raw

NEAR = 0.6
FEW = 2
"""Part of what may be sent from which the count matters; and reports of a provider's that are not enough to go by."""


def counted(window: Window, state: State, agent: Agent) -> Weighed | None:
    """To be recorded, so that a resumed run counts alike and asks no second time. None: there is no need, or no count."""
    if state.weighed == state.step + 1 or not doubtful(window, state, agent):
        return None
    count = agent.model.weigh(window.request)
    if not count:
        return None
    return Weighed(
        step=state.step + 1, model=agent.model.name, estimated=window.tokens, counted=count, reserve=window.request.reserve,
        budget=window.budget, pieces=raw(window.request), framing=agent.counter.around(window.request),
    )  # fmt: skip


def doubtful(window: Window, state: State, agent: Agent) -> bool:
    """Near the ceiling, with little known of the model's count, or after a call that was over."""
    last = state.reading
    breached = last.model == agent.model.name and last.reported + last.reserve > last.budget > 0
    known = meter_of(state.meters, agent.model.name).samples + (state.weighed > 0)
    return window.tokens >= NEAR * (window.budget - window.request.reserve) and (breached or known < FEW)
