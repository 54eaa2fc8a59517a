"""The ceiling in force, and how it has served: what raising and lowering it is decided on."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from afresh.core.action import Observation
from afresh.core.fast_dataclass import dataclass
from afresh.core.task import Task

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


CALM_STEPS_BEFORE_LOWERING = 3
MAX_CALM_STEPS_BEFORE_LOWERING = 48
"""Calm steps before the ceiling goes down; doubled each time that going down has proved too early."""


@dataclass(frozen=True, slots=True)
class CeilingState:
    """The ceiling in force, and why."""

    budget: int = 0
    """0: as ordered with the task."""
    highest: int = 0
    """The highest that was ever in force, when it is not the one ordered."""
    since: int = 0
    reason: str = ""
    """Of the last change; `since` is the step after which it was made."""
    wanted: str = ""
    """Why the agent has asked for more, until that is decided on."""
    failing: int = 0
    """Steps in a row that came to nothing while something was left out."""
    again: bool = False
    """The last step read lines again that it had seen before, while something asked for was left out."""
    calm: int = 0
    """Steps in a row that worked and that the level below would have held."""
    patience: int = CALM_STEPS_BEFORE_LOWERING
    lowered: bool = False
    """The last change was one down."""
    saved: bool = False
    """A checkpoint has been written since the pressure became critical."""
    breaches: int = 0
    """Calls that the provider counted over their ceiling."""


@dataclass(frozen=True, slots=True)
class ReplyReserve:
    """The part of the ceiling that is kept for the reply, where it is not the usual one."""

    share: float = 0.0
    """0: the usual one."""
    usual: float = 0.0
    cramped: bool = False
    """The last reply was too long for its limit, and nothing was done about it yet."""
    short: int = 0
    """Replies in a row for which the usual reserve would have been enough."""


def list_ceiling_levels(ordered: int, cap: int) -> tuple[int, ...]:
    """Twice, four times, then the cap: each step up is worth a record, so there are few."""
    return tuple(sorted({min(level, cap) for level in (ordered, 2 * ordered, 4 * ordered, cap)}))


def find_next_ceiling_up(budget: int, ordered: int, cap: int) -> int:
    """The next level, or the same when there is none."""
    return next((level for level in list_ceiling_levels(ordered, cap) if level > budget), budget)


def find_next_ceiling_down(budget: int, ordered: int) -> int:
    return max((level for level in list_ceiling_levels(ordered, budget) if level < budget), default=budget)


def change_ceiling(room: CeilingState, before: int, budget: int, step: int, reason: str) -> CeilingState:
    """Too early a descent shows when it has to be taken back: the next one waits twice as long."""
    up, down = budget > before, budget < before
    patience = min(2 * room.patience, MAX_CALM_STEPS_BEFORE_LOWERING) if up and room.lowered else room.patience
    return replace(
        room, budget=budget, highest=max(room.highest, before, budget), since=step, reason=reason, wanted="", failing=0,
        again=False, calm=0,
        patience=patience, lowered=down or (room.lowered and not up),
    )  # fmt: skip


def count_ceiling_step(room: CeilingState, reading: CallFigures, worked: bool, lower: int) -> CeilingState:
    """After a step; `lower` is the level below, or the one in force when there is none."""
    held = lower < reading.budget and pressure_from_demand(reading.demand_at(lower), lower) is CeilingPressure.CALM
    failing = room.failing + 1 if reading.dark and not worked else 0
    return replace(room, failing=failing, calm=room.calm + 1 if worked and held else 0)


def change_reserve(reserve: ReplyReserve, before: float, share: float) -> ReplyReserve:
    """`share` 0: as usual again."""
    return ReplyReserve(share, reserve.usual if reserve.share else before)


def count_reply(reserve: ReplyReserve, call: CallFigures, said: int, cramped: bool) -> ReplyReserve:
    """After a reply of `said` tokens."""
    enough = (call.budget - call.thinking) * reserve.usual + call.thinking
    fits = reserve.share and not cramped and said <= enough
    return replace(reserve, cramped=cramped, short=reserve.short + 1 if fits else 0)


@dataclass(frozen=True, slots=True)
class LargerCeilingRequested:
    """The agent asks for a larger window."""

    reason: str


@dataclass(frozen=True, slots=True)
class CeilingChanged:
    """Another ceiling from the next call on. `step`: after which. `before` equals `budget` when a wish could not be granted."""

    step: int
    before: int
    budget: int
    reason: str


@dataclass(frozen=True, slots=True)
class ReserveChanged:
    """Another share of the ceiling is kept for the reply from the next call on; 0: the usual one. `step`: after which."""

    step: int
    before: float
    share: float
    reason: str


MAX_TOOLS_REMEMBERED = 16
MAX_SAMPLES_IN_MEAN = 16
"""Tools that are kept, the most used; and how many times back a mean remembers."""
CHARACTERS_PER_LINE = 40
"""Characters of a line of code, roughly: `read` brings lines of a file and prints hardly anything itself."""
MAX_SHOWN_CHARACTERS = 12_000
"""Characters beyond which an output is never shown."""


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


def compute_highest_ceiling(task: Task, window: int) -> int:
    """The highest ceiling: by the user's limit and by the model's window. Never below what was ordered."""
    return max(task.budget, min(task.budget_limit, window // MODEL_WINDOW_DIVISOR))
