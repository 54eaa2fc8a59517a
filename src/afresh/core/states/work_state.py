"""How far the work is: steps, plan, strategy, and the reply that is being acted on."""

from dataclasses import replace
from typing import TYPE_CHECKING

from afresh.core.event import (
    ActionsExecuted,
    CallRequested,
    Event,
    MemoryCompacted,
    PlanSet,
    QuestionAnswered,
    ReplyReceived,
    StepFinished,
    TaskEnded,
)
from afresh.core.fast_dataclass import dataclass
from afresh.core.reply import Reply, ReturnedReply, make_returned_reply
from afresh.core.states.dialogue_state import restarts_counters
from afresh.core.states.progress_state import (
    INITIAL_PROGRESS,
    ProgressState,
    StallNoticed,
    StepMarked,
    add_cost,
    apply_stall_notice,
    apply_step_mark,
    restart_progress,
)
from afresh.core.states.queue_state import HoldReleased, PlaceChanged, QueuePlace, TaskHeld
from afresh.core.states.strategy_state import (
    INITIAL_STRATEGY,
    PlanItem,
    StrategyChanged,
    StrategyState,
    change_strategy,
    count_strategy_step,
)
from afresh.core.states.supervision_state import PersonSpoke, RecoveredFromCheckpoint, StepsUndone, TurnBegan
from afresh.core.subtask import SubtaskResult, SubtaskReturned

if TYPE_CHECKING:
    from afresh.core.state import State


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

    def apply(self, event: Event, state: "State") -> "WorkState":
        match event:
            case CallRequested():
                steps = {**dict(self.phase_steps), state.phase: state.phase_step}
                return replace(self, phase_steps=tuple(steps.items()))
            case ReplyReceived():
                return replace(self, pending=PendingReply(event.step, event.reply))
            case ActionsExecuted():
                return replace(self, returned_reply=make_returned_reply(event.step, self.pending.reply) if self.pending else None)
            case StepFinished():
                return self._finish_step(event, state)
            case TaskEnded():
                place = replace(self.place, hold=None) if self.place and self.place.hold and event.status.over else self.place
                return replace(self, outcome=event.reason, place=place)
            case SubtaskReturned():
                return replace(self, subtasks=(*self.subtasks, event.result))
            case StepMarked():
                return replace(self, progress=apply_step_mark(self.progress, event))
            case StallNoticed():
                return replace(self, progress=apply_stall_notice(self.progress, event))
            case MemoryCompacted():
                reply = event.reply
                return replace(self, progress=add_cost(self.progress, reply.cost, reply.usage.tokens)) if reply else self
            case _:
                return self._apply_direction(event, state)

    def _apply_direction(self, event: Event, state: "State") -> "WorkState":
        """A plan, another strategy, or a person's word, after which all counters start anew."""
        now = self._restart_counters() if restarts_counters(event, state) else self
        match event:
            case PlanSet():
                return replace(now, plan=event.items, plan_step=self.step + 1)
            case StrategyChanged():
                return replace(now, strategy=change_strategy(event, self.strategy, state.verification.refusals))
            case QuestionAnswered() if now is not self and not state.dialogue.supervision.paused:
                return replace(now, limit=max(self.limit, self.step + state.task.max_steps))
            case PlaceChanged():
                return replace(now, place=event.apply(state.place))
            case TaskHeld() | HoldReleased():
                hold = event.hold if isinstance(event, TaskHeld) else None
                return replace(now, place=replace(state.place, hold=hold))
            case TurnBegan():
                return replace(now, plan=(), plan_step=0, limit=max(self.limit, self.step + state.task.max_steps))
            case PersonSpoke() if event.redirects:
                return replace(now, plan=(), plan_step=0)
            case StepsUndone():
                return replace(now, plan=event.plan, plan_step=event.planned)
            case RecoveredFromCheckpoint():
                return replace(now, limit=self.limit + event.left_step - event.step, returned_reply=None)
            case _:
                return now

    def _finish_step(self, event: StepFinished, state: "State") -> "WorkState":
        recent = state.memory.recent
        strategy = count_strategy_step(self.strategy, self.plan, self.plan_step, not recent or recent[-1].kept)
        return replace(self, step=event.step, pending=None, outcome=event.outcome, strategy=strategy)

    def _restart_counters(self) -> "WorkState":
        progress = restart_progress(self.progress, self.step)
        return replace(self, phase_steps=(), strategy=INITIAL_STRATEGY, progress=progress)
