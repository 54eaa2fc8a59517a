"""Say that the task is done. The harness verifies it."""

from collections.abc import Mapping
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.step_result import ToolOutcome
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext


def claim_completion(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    if not args["summary"].strip():
        raise ModelMistake("complete: the summary is empty")
    return ToolOutcome("verifying", complete=args["summary"])


tool = FunctionTool(make_tool_schema("complete", "Done: commit subject, what and why.", summary=""), claim_completion)
