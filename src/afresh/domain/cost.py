"""What each kind of operation brings into the next window, learnt from what it has brought so far."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.domain.action import Observation

TOOLS = 16
MEMORY = 16
"""Tools that are kept, the most used; and how many times back a mean remembers."""
LINE = 40
"""Characters of a line of code, roughly: `read` brings lines of a file and prints hardly anything itself."""
WHOLE = 12_000
"""Characters beyond which an output is never shown."""


@dataclass(frozen=True, slots=True)
class Cost:
    tool: str
    times: int = 0
    tokens: float = 0.0
    """Mean of the last few."""


def brought(seen: Observation) -> int:
    """Tokens, at three and a half characters each."""
    return min(seen.size + LINE * seen.lines, WHOLE) * 2 // 7


def learnt(costs: tuple[Cost, ...], observations: Sequence[Observation]) -> tuple[Cost, ...]:
    known = {cost.tool: cost for cost in costs}
    for seen in observations:
        old = known.get(seen.action.tool, Cost(seen.action.tool))
        times = old.times + 1
        mean = old.tokens + (brought(seen) - old.tokens) / min(times, MEMORY)
        known[old.tool] = replace(old, times=times, tokens=round(mean, 1))
    return tuple(sorted(known.values(), key=lambda cost: (-cost.times, cost.tool))[:TOOLS])
