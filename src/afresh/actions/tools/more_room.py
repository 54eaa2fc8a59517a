"""Ask for a larger window. The harness decides, within the user's limit, and writes down why."""

from collections.abc import Mapping
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.ceiling_state import LargerCeilingRequested
from afresh.core.step_result import ToolOutcome
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext


def request_larger_ceiling(args: Mapping[str, Any], bench: ToolContext) -> ToolOutcome:
    if not args["reason"].strip():
        raise ModelMistake("more_room: say what was left out that you need")
    return ToolOutcome(
        "asked for; the next call is larger if the limit allows it", events=(LargerCeilingRequested(args["reason"]),)
    )


tool = FunctionTool(
    make_tool_schema("more_room", "Get a larger window; `reason`: what is missing.", reason=""), request_larger_ceiling
)
