"""What each kind of operation brings into the next window, learnt from what it has brought so far."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.domain.action import Observation

MAX_TOOLS_REMEMBERED = 16
MAX_SAMPLES_IN_MEAN = 16
"""Tools that are kept, the most used; and how many times back a mean remembers."""
CHARACTERS_PER_LINE = 40
"""Characters of a line of code, roughly: `read` brings lines of a file and prints hardly anything itself."""
MAX_SHOWN_CHARACTERS = 12_000
"""Characters beyond which an output is never shown."""


@dataclass(frozen=True, slots=True)
class ToolTokenCost:
    tool: str
    times: int = 0
    tokens: float = 0.0
    """Mean of the last few."""


def estimate_observation_tokens(seen: Observation) -> int:
    """Tokens, at three and a half characters each."""
    return min(seen.size + CHARACTERS_PER_LINE * seen.lines, MAX_SHOWN_CHARACTERS) * 2 // 7


def update_tool_costs(costs: tuple[ToolTokenCost, ...], observations: Sequence[Observation]) -> tuple[ToolTokenCost, ...]:
    known = {cost.tool: cost for cost in costs}
    for seen in observations:
        old = known.get(seen.action.tool, ToolTokenCost(seen.action.tool))
        times = old.times + 1
        mean = old.tokens + (estimate_observation_tokens(seen) - old.tokens) / min(times, MAX_SAMPLES_IN_MEAN)
        known[old.tool] = replace(old, times=times, tokens=round(mean, 1))
    return tuple(sorted(known.values(), key=lambda cost: (-cost.times, cost.tool))[:MAX_TOOLS_REMEMBERED])
