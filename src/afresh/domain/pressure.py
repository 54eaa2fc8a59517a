"""How close a call came to its ceiling with what can't be left out. Room that was filled since it was there is no pressure."""

from dataclasses import dataclass
from enum import StrEnum

SOFT_PRESSURE_SHARE = 0.80
CRITICAL_PRESSURE_SHARE = 0.95
NEGLIGIBLE_TOKENS = 100
"""Tokens that are not worth a larger window."""


class CeilingPressure(StrEnum):
    """SOFT: optional sections give way. CRITICAL: a checkpoint is written, and the window gets more room."""

    CALM = "calm"
    SOFT = "soft"
    CRITICAL = "critical"


def pressure_from_demand(demand: int, budget: int) -> CeilingPressure:
    share = demand / budget if budget > 0 else 1.0
    return (
        CeilingPressure.CRITICAL
        if share >= CRITICAL_PRESSURE_SHARE
        else CeilingPressure.SOFT
        if share >= SOFT_PRESSURE_SHARE
        else CeilingPressure.CALM
    )


@dataclass(frozen=True, slots=True)
class CallFigures:
    """The figures of one call."""

    model: str = ""
    budget: int = 0
    reserve: int = 0
    tokens: int = 0
    """Our estimate of what was sent."""
    demand: int = 0
    """What is never left out (system, tools, framing, sections of the tier ALWAYS), with the reply's reserve."""
    unmet: int = 0
    """What the work had asked for (the tier DEMAND) and found no room."""
    omitted: int = 0
    """All that was left out and a larger window could show, with what is unmet."""
    pieces: int = 0
    framing: int = 0
    reported: int = 0
    """The provider's own count; 0 when there is none."""
    thinking: int = 0
    """Of the reserve: it does not grow with the ceiling."""

    @property
    def dark(self) -> bool:
        """Whether the model may have failed because of what it was not shown."""
        return self.unmet > 0 or self.omitted > NEGLIGIBLE_TOKENS

    @property
    def pressure(self) -> CeilingPressure:
        return pressure_from_demand(self.demand, self.budget) if self.budget else CeilingPressure.CALM

    def demand_at(self, budget: int) -> int:
        """The same content under another ceiling: the reserve, but for what is thought with, is a share of it."""
        answer, here, there = self.reserve - self.thinking, self.budget - self.thinking, budget - self.thinking
        return self.demand - answer + (answer * max(0, there) // here if here > 0 else 0)
