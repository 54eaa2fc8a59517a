"""How far the work is: steps, plan, strategy, and the reply that is being acted on."""

from typing import TYPE_CHECKING

from afresh.core.fast_dataclass import dataclass
from afresh.core.reply import Reply, ReturnedReply
from afresh.core.states.progress_state import (
    INITIAL_PROGRESS,
    ProgressState,
)
from afresh.core.states.queue_state import QueuePlace
from afresh.core.states.strategy_state import (
    INITIAL_STRATEGY,
    PlanItem,
    StrategyState,
)
from afresh.core.subtask import SubtaskResult

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class PendingReply:
    """A reply that has been paid for and not yet acted on to the end."""

    step: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class WorkState:
    """Steps, plan and strategy."""

    step: int = 0
    """Steps finished."""
    limit: int = 0
    """Steps that are allowed; a person's answer allows more."""
    phase_steps: tuple[tuple[str, int], ...] = ()
    """Steps begun in each phase, since the last word of a person."""
    pending: PendingReply | None = None
    returned_reply: ReturnedReply | None = None
    """The last reply, if it is short enough to go back to its model as it was."""
    plan: tuple[PlanItem, ...] = ()
    plan_step: int = 0
    """The step in which the plan was set last."""
    subtasks: tuple[SubtaskResult, ...] = ()
    """Results of the parts that were handed out; at most as many as the task allows."""
    strategy: StrategyState = INITIAL_STRATEGY
    progress: ProgressState = INITIAL_PROGRESS
    outcome: str = ""
    place: QueuePlace | None = None
    """Its place in the queue, where a person has changed it; None: as ordered."""
