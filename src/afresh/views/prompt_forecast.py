"""Forecasts what the next prompt will need, and whether the ceiling allows it."""

from afresh.core.state import State
from afresh.core.states.ceiling_state import estimate_observation_tokens


def project_prompt_tokens(state: State) -> int:
    """Tokens that the next prompt needs: what is never left out, with the reply's reserve, and what the last step brought."""
    last = state.memory.recent[-1].observations if state.memory.recent else ()
    return state.tokens.last_call.demand + sum(map(estimate_observation_tokens, last))


def can_afford_tool(state: State, tool: str) -> bool:
    """Whether what this tool usually brings would be shown whole beside what is never left out."""
    usual = next((cost.tokens for cost in state.tokens.tool_costs if cost.tool == tool), 0.0)
    return state.tokens.last_call.demand + usual <= state.budget
