"""Ask the person who gave the task. The task waits for the answer."""

from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.domain.event import Asked
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    if not args["question"].strip():
        raise ModelMistake("ask: the question is empty")
    return Outcome("asked; the task waits", events=(Asked(args["question"], tuple(map(str, args.get("options", ())))),))


tool = FunctionTool(
    schema("ask", "Ask the user, only if you cannot decide.", ("options",), question="", options=("array", "")), run
)  # fmt: skip
