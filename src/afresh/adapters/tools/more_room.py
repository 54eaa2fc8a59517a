"""Ask for a larger window. The harness decides, within the user's limit, and writes down why."""

from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.domain.event import Wanted
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    if not args["reason"].strip():
        raise ModelMistake("more_room: say what was left out that you need")
    return Outcome("asked for; the next call is larger if the limit allows it", events=(Wanted(args["reason"]),))


tool = FunctionTool(schema("more_room", "Get a larger window; `reason`: what is missing.", reason=""), run)
