"""How a task goes from step to step: by which loop, since when, and how it has served."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.core.fast_dataclass import dataclass

REACT_STRATEGY = "react"
PLAN_EXECUTE_STRATEGY = "plan_execute"
STRATEGY_NAMES = (REACT_STRATEGY, PLAN_EXECUTE_STRATEGY)


@dataclass(frozen=True, slots=True)
class StrategyChanged:
    """From the next call on it goes another way: by this loop, and if that works by a plan, by a new one."""

    step: int
    """The step after which it was made."""
    loop: str
    why: str


@dataclass(frozen=True, slots=True)
class StrategyPace:
    """How long a loop goes on as it does; 0: for ever."""

    item_steps: int = 0
    """Steps on one item of the plan, or on the plan itself."""
    replans: int = 2
    """Turns after which a person is asked."""
    grace: int = 0
    """Steps over the budget of a phase before the harness acts, and as many again before it asks a person."""


UNLIMITED_PACE = StrategyPace()


@dataclass(frozen=True, slots=True)
class StrategyState:
    """The strategy in force."""

    name: str = ""
    """As it was turned to; empty: as the order or the template of the type has it."""
    since: int = 0
    """The step after which it was turned to: a plan that is not newer is outdated."""
    turns: int = 0
    """Since the last word of a person."""
    why: str = ""
    refusals: int = 0
    """Refused completions up to the turn."""
    planning: bool = True
    """No plan has been made since the turn, or since the last word of a person. Once there was one, to clear it wins no steps."""
    done: int = 0
    """The most items of the plan that were ever done: to take a mark off, or to word an item anew, wins no steps."""
    steps: int = 0
    """Since the plan was made, or its last item was done; before there is one, since the turn."""
    undone: int = 0
    """Changes since then that made things worse."""


INITIAL_STRATEGY = StrategyState()
"""At the start, and again after a word of a person: all counts begin anew, and what was turned to without them is over."""


@dataclass(frozen=True, slots=True)
class PlanItem:
    """A line of the plan."""

    text: str
    done: bool = False


def find_focus_item(plan: Sequence[PlanItem]) -> int:
    """The place of the first item that is not done; -1 when all are."""
    return next((place for place, item in enumerate(plan) if not item.done), -1)


def is_plan_outdated(loop: StrategyState, plan: Sequence[PlanItem], planned: int) -> bool:
    """Whether a plan has to be made; `planned` is the step in which it was set."""
    return not plan or planned <= loop.since


def change_strategy(event: StrategyChanged, loop: StrategyState, refusals: int) -> StrategyState:
    return StrategyState(event.loop, event.step, loop.turns + 1, event.why, refusals)


def count_strategy_step(loop: StrategyState, plan: Sequence[PlanItem], planned: int, kept: bool) -> StrategyState:
    """After a step."""
    if is_plan_outdated(loop, plan, planned):
        return replace(loop, steps=loop.steps + 1)
    done = sum(item.done for item in plan)
    if loop.planning or done > loop.done:
        return replace(loop, planning=False, done=done, steps=0, undone=0)
    return replace(loop, steps=loop.steps + 1, undone=loop.undone + (not kept))
