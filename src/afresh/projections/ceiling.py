"""The ceiling of a task in words and as plain values: session files, checkpoints and terminal views say the same."""

from typing import Any

from afresh.domain.outlook import can_afford_tool, project_prompt_tokens
from afresh.domain.state import State
from afresh.domain.text import to_one_line


def describe_ceiling(state: State) -> str:
    """The ceiling in force, and since when and why it is not the one ordered."""
    room, task = state.room, state.task
    said = f"{state.budget:,} tokens a call"
    if state.budget != task.budget or room.reason:
        said += f" (ordered {task.budget:,}, at most {task.budget_limit:,})"
    if room.reason:
        said += f", after step {room.since}: {to_one_line(room.reason, 300)}"
    return said


def describe_calibration(state: State) -> str:
    """How our count compared with the provider's; empty as long as it has not reported any."""
    meter, breaches = state.meters[-1] if state.meters else None, state.room.breaches
    if meter is None or not (meter.samples or meter.doubted):
        return ""
    said = f"counted with factor {meter.factor:.2f}, learnt from {meter.samples:,} reports of {to_one_line(meter.model, 60)}"
    said += f"; {meter.doubted:,} reports were not believed" if meter.doubted else ""
    return said + (f"; {breaches:,} calls were counted over their ceiling afterwards" if breaches else "")


def ceiling_to_json(state: State) -> dict[str, Any]:
    """Current and projected use, and what each kind of operation usually brings."""
    reading = state.reading
    return {
        "budget": state.budget,
        "ordered": state.task.budget,
        "limit": state.task.budget_limit,
        "reason": state.room.reason,
        "pressure": reading.pressure.value,
        "demand": reading.demand,
        "unmet": reading.unmet,
        "estimated": reading.tokens,
        "reported": reading.reported,
        "projected": project_prompt_tokens(state),
        "breaches": state.room.breaches,
        "factors": {meter.model: meter.factor for meter in state.meters},
        "costs": {
            cost.tool: {"times": cost.times, "tokens": cost.tokens, "affordable": can_afford_tool(state, cost.tool)}
            for cost in state.costs
        },
    }
