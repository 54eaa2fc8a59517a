"""Say that the task is done. The harness verifies it."""

from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    if not args["summary"].strip():
        raise ModelMistake("complete: the summary is empty")
    return Outcome("verifying", complete=args["summary"])


tool = FunctionTool(schema("complete", "Claim the task done: commit subject, then what and why.", summary=""), run)
