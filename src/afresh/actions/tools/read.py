"""Look at a window of a file. The lines stay under "Files", read anew for every call, so they are never stale."""

from collections.abc import Mapping
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.line_region import Region
from afresh.core.step_result import ToolOutcome
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext

DEFAULT_LINE_COUNT = 80


def read_lines(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    count = len(context.files.read(args["path"]).splitlines())
    start = max(1, int(args.get("start", 1)))
    if start > max(1, count):
        raise ModelMistake(f"{args['path']} has only {count} lines")
    end = min(count, start + max(1, int(args.get("lines", DEFAULT_LINE_COUNT))) - 1)
    end = count if "lines" not in args and count - end < DEFAULT_LINE_COUNT // 4 else end
    region = Region(args["path"], start, end, context.state.work.step + 1)
    return ToolOutcome(f"{args['path']}: lines {start}-{end} of {count}", regions=(region,))


tool = FunctionTool(
    make_tool_schema(
        "read", f"Show lines of a file ({DEFAULT_LINE_COUNT} from `start` on).", ("start", "lines"),
        path="", start=("integer", ""), lines=("integer", ""),
    ),
    read_lines,
)  # fmt: skip
