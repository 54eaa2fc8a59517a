"""Keep a note for later windows. A newer note on the same subject replaces the older one."""

from collections.abc import Mapping
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.fact import Fact, FactKind
from afresh.core.step_result import ToolOutcome
from afresh.ports.tool import ToolContext


def keep_note(args: Mapping[str, Any], bench: ToolContext) -> ToolOutcome:
    fact = Fact(FactKind.NOTE, args["subject"], args["note"], confidence=0.8, step=bench.state.work.step + 1)
    return ToolOutcome("noted", facts=(fact,))


tool = FunctionTool(
    make_tool_schema("remember", "Keep a note; replaces the one on the same subject.", subject="", note=""), keep_note
)
