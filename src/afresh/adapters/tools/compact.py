"""Put away what lies behind: older steps go from memory and leave a summary. Only where nothing is half done."""

from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.tool import FunctionTool, make_tool_schema
from afresh.domain.boundary import find_compaction_obstacle
from afresh.domain.event import CompactionRequested
from afresh.errors import ModelMistake
from afresh.ports import ToolContext, ToolOutcome

MAX_KEEP_CHARACTERS = 300


def request_compaction(args: Mapping[str, Any], bench: ToolContext) -> ToolOutcome:
    keep = args["keep"].strip()
    if not keep or len(keep) > MAX_KEEP_CHARACTERS:
        raise ModelMistake(f"compact: say in `keep` what later steps must know, in at most {MAX_KEEP_CHARACTERS} characters")
    if why := find_compaction_obstacle(bench.state):
        raise ModelMistake(f"compact: not now, {why}")
    return ToolOutcome("older steps are put away before the next call", events=(CompactionRequested(keep),))


tool = FunctionTool(
    make_tool_schema("compact", "Put older steps away; `keep`: what later ones need (300 characters).", keep=""),
    request_compaction,
)
