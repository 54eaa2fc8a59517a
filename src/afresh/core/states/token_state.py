"""Tokens: the ceiling in force, the figures of the last call, and what the provider's counts have taught."""

from afresh.core.fast_dataclass import dataclass
from afresh.core.states.ceiling_state import CallFigures, CeilingState, ToolTokenCost
from afresh.core.states.prompt_state import PromptState
from afresh.core.token_calibration import TokenCalibration

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
