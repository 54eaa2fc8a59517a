"""Tokens: the ceiling in force, the figures of the last call, and what the provider's counts have taught."""

from dataclasses import replace
from typing import TYPE_CHECKING

from afresh.core.event import (
    ActionsExecuted,
    CallRequested,
    CheckpointWritten,
    Event,
    ReplyReceived,
)
from afresh.core.fast_dataclass import dataclass
from afresh.core.prompt import CallAudit
from afresh.core.reply import Reply
from afresh.core.states.ceiling_state import (
    CallFigures,
    CeilingChanged,
    CeilingPressure,
    CeilingState,
    LargerCeilingRequested,
    LimitsOrdered,
    ToolTokenCost,
    note_wish,
    pressure_from_demand,
    update_tool_costs,
)
from afresh.core.states.prompt_state import PromptState
from afresh.core.token_calibration import (
    CalibrationLoaded,
    CeilingBreached,
    TokenCalibration,
    TokensCounted,
    add_sample,
    find_calibration,
    replace_calibration,
)

if TYPE_CHECKING:
    from afresh.core.state import State

INITIAL_CEILING = CeilingState()
NO_CALL_FIGURES = CallFigures()
NO_PROMPT = PromptState()


@dataclass(frozen=True, slots=True)
class TokenState:
    """The ceiling, and what calls took of it."""

    ceiling: CeilingState = INITIAL_CEILING
    cut_replies: int = 0
    """The last so many replies in a row were cut at their limit."""
    last_call: CallFigures = NO_CALL_FIGURES
    counted_step: int = 0
    """The last step whose prompt the provider has counted before it was sent, and found to fit."""
    calibrations: tuple[TokenCalibration, ...] = ()
    tool_costs: tuple[ToolTokenCost, ...] = ()
    largest_call: CallFigures = NO_CALL_FIGURES
    prompt: PromptState = NO_PROMPT

    def apply(self, event: Event, state: "State") -> "TokenState":
        now, prompt = self._apply_to_figures(event, state), self.prompt.apply(event, state)
        return now if prompt is self.prompt else replace(now, prompt=prompt)

    def _apply_to_figures(self, event: Event, state: "State") -> "TokenState":
        match event:
            case CallRequested():
                return self._note_request(event.audit, state.task.budget)
            case ReplyReceived():
                return self._learn_from_reply(event.reply)
            case ActionsExecuted():
                return replace(self, tool_costs=update_tool_costs(self.tool_costs, event.observations))
            case CalibrationLoaded(calibration):
                return replace(self, calibrations=replace_calibration(self.calibrations, calibration))
            case TokensCounted():
                return self._learn_from_count(event)
            case CeilingChanged(step, _, budget, reason):
                return replace(self, ceiling=replace(self.ceiling, budget=budget, since=step, reason=reason))
            case _:
                ceiling = apply_to_ceiling(event, state)
                return self if ceiling is self.ceiling else replace(self, ceiling=ceiling)

    def _note_request(self, call: CallAudit, ordered: int) -> "TokenState":
        figures = CallFigures(
            model=call.model,
            budget=call.budget,
            reserve=call.reserve,
            tokens=call.tokens,
            demand=call.demand,
            unmet=call.unmet,
            omitted=sum(gone.tokens for gone in call.omissions),
            pieces=call.pieces,
            framing=call.framing,
            thinking=call.thinking,
            window=call.window,
        )
        pressure = pressure_from_demand(figures.demand, min(ordered, figures.budget))
        saved = self.ceiling.saved and pressure is CeilingPressure.CRITICAL
        largest = figures if call.tokens >= self.largest_call.tokens else self.largest_call
        return replace(self, last_call=figures, ceiling=replace(self.ceiling, saved=saved), largest_call=largest)

    def _learn_from_reply(self, reply: Reply) -> "TokenState":
        """Only a provider's own count teaches."""
        call = self.last_call
        now = replace(self, cut_replies=self.cut_replies + 1 if reply.cramped else 0)
        if not reply.counted or not call.pieces:
            return now
        learnt = add_sample(find_calibration(self.calibrations, call.model), call.pieces, call.framing, reply.usage.input)
        figures = replace(call, reported=reply.usage.input)
        return replace(now, last_call=figures, calibrations=replace_calibration(self.calibrations, learnt))

    def _learn_from_count(self, count: TokensCounted) -> "TokenState":
        """A prompt over the ceiling teaches at once, for the one that is built next; one that fits is left to its reply."""
        if not count.over:
            return replace(self, counted_step=count.step)
        learnt = add_sample(find_calibration(self.calibrations, count.model), count.pieces, count.framing, count.counted)
        return replace(self, calibrations=replace_calibration(self.calibrations, learnt))


def apply_to_ceiling(event: Event, state: "State") -> CeilingState:
    now = state.tokens.ceiling
    match event:
        case CeilingBreached():
            return replace(now, breaches=now.breaches + 1)
        case LimitsOrdered():
            return replace(now, budget=0)
        case LargerCeilingRequested(reason):
            return note_wish(now, state.work.step, reason)
        case CheckpointWritten():
            return replace(now, saved=True)
        case _:
            return now
