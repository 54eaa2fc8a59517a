"""The limit of a call and its figures: what the next limit is decided on."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from afresh.core.action import Observation
from afresh.core.fast_dataclass import dataclass
from afresh.core.reply import OFFLINE_MODEL
from afresh.core.task import Task

SOFT_PRESSURE_SHARE = 0.80
CRITICAL_PRESSURE_SHARE = 0.95


class CeilingPressure(StrEnum):
    """SOFT: optional sections give way. CRITICAL: a checkpoint is written, and the prompt gets more room."""

    CALM = "calm"
    SOFT = "soft"
    CRITICAL = "critical"


def pressure_from_demand(demand: int, budget: int) -> CeilingPressure:
    share = demand / budget if budget > 0 else 1.0
    if share >= CRITICAL_PRESSURE_SHARE:
        return CeilingPressure.CRITICAL
    return CeilingPressure.SOFT if share >= SOFT_PRESSURE_SHARE else CeilingPressure.CALM


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
    """Tokens that the work asked for (the tier DEMAND) and that did not fit."""
    omitted: int = 0
    """All that was left out and a larger window could show, with what is unmet."""
    pieces: int = 0
    framing: int = 0
    reported: int = 0
    """The provider's own count; 0 when there is none."""
    thinking: int = 0
    """Of the reserve: it does not grow with the ceiling."""
    window: int = 0
    """The model's window; 0: not recorded."""

    @property
    def needs_pressure(self) -> CeilingPressure:
        """By what can't be left out: what decides whether the next prompt gets more room."""
        return pressure_from_demand(self.demand, self.budget) if self.budget else CeilingPressure.CALM

    @property
    def fill(self) -> float:
        """How much of what it might have, besides the reply's reserve, the prompt had."""
        return self.tokens / max(1, self.budget - self.reserve) if self.budget else 0.0

    @property
    def pressure(self) -> CeilingPressure:
        """By the prompt that was sent."""
        return pressure_from_demand(self.tokens, self.budget - self.reserve) if self.budget else CeilingPressure.CALM

    @property
    def window_share(self) -> float | None:
        """Of the model's window, if one reads it."""
        return self.tokens / self.window if self.window and self.model != OFFLINE_MODEL else None


@dataclass(frozen=True, slots=True)
class CeilingState:
    """The ceiling of the last prompt that was built, and why."""

    budget: int = 0
    """0: as ordered with the task."""
    since: int = 0
    reason: str = ""
    """Of the last change; `since` is the step after which it was made."""
    wanted: str = ""
    """Why the agent has asked for more the last time; how often it has asked in a row, and after which step."""
    wishes: int = 0
    wished: int = 0
    saved: bool = False
    """A checkpoint has been written since the pressure became critical."""
    breaches: int = 0
    """Calls that the provider counted over their ceiling."""


CEILING_STEP_TOKENS = 500
WISH_STEPS = 3
"""For so many steps the agent gets twice as much for asking; asking again meanwhile doubles it again."""


def round_up_ceiling(tokens: int) -> int:
    return -(-tokens // CEILING_STEP_TOKENS) * CEILING_STEP_TOKENS


def note_wish(room: CeilingState, step: int, reason: str) -> CeilingState:
    return replace(room, wanted=reason, wishes=count_open_wishes(room, step) + 1, wished=step)


def count_open_wishes(room: CeilingState, step: int) -> int:
    """After this many steps: those that are not yet forgotten."""
    return room.wishes if step - room.wished <= WISH_STEPS else 0


@dataclass(frozen=True, slots=True)
class LargerCeilingRequested:
    """The agent asks for a larger window."""

    reason: str


@dataclass(frozen=True, slots=True)
class CeilingChanged:
    """Another ceiling from the next call on, or the same for another reason. `step`: after which."""

    step: int
    before: int
    budget: int
    reason: str


RAISE_LIMIT_OPTION = 1


@dataclass(frozen=True, slots=True)
class LimitsOrdered:
    """A person has ordered other limits for calls than the task began with. `resumes`: a task that waits for that goes on."""

    budget: int
    max_budget: int
    by: str = "person"
    resumes: bool = False


MAX_TOOLS_REMEMBERED = 16
MAX_SAMPLES_IN_MEAN = 16
"""Tools that are kept, the most used; and how many times back a mean remembers."""
CHARACTERS_PER_LINE = 40
"""Characters of a line of code, roughly: `read` brings lines of a file and prints hardly anything itself."""
MAX_SHOWN_CHARACTERS = 12_000
"""Longer outputs are never shown."""


@dataclass(frozen=True, slots=True)
class ToolTokenCost:
    """Tokens that a tool usually adds to the next prompt."""

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


MODEL_WINDOW_DIVISOR = 5
"""A call takes at most one part in this many of what the model can take."""


@dataclass(frozen=True, slots=True)
class TokenLimits:
    """The limit of a call in tokens, prompt and reply: as ordered, of the last call, and the highest that a call may have."""

    ordered: int
    now: int
    highest: int

    @property
    def words(self) -> str:
        if self.ordered == self.highest:
            return f"{self.highest:,} tokens a call, never more"
        return f"{self.now:,} tokens a call now; set to {self.ordered:,}, at most {self.highest:,}"


def compute_highest_ceiling(task: Task, window: int) -> int:
    """The highest ceiling: by the user's limit and by the model's window. Never below what was ordered."""
    return max(task.budget, min(task.budget_limit, window // MODEL_WINDOW_DIVISOR))
