"""Make a file, or replace a whole one."""

from collections.abc import Mapping
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.step_result import ToolOutcome
from afresh.ports.tool import ToolContext


def write_file(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    known = args["path"] in context.files.paths()
    context.files.write(args["path"], args["content"])
    what = f"{'replaced' if known else 'made'} {args['path']} ({len(args['content'].splitlines())} lines)"
    return ToolOutcome(f"{what}\n{args['content']}")


tool = FunctionTool(make_tool_schema("write", "Create or overwrite a file.", path="", content=""), write_file)
