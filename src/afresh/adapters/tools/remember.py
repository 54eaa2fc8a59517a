"""Keep a note for later windows. A newer note on the same subject replaces the older one."""

from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.domain.fact import Fact, FactKind
from afresh.ports import Bench, Outcome


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    fact = Fact(FactKind.NOTE, args["subject"], args["note"], confidence=0.8, step=bench.state.step + 1)
    return Outcome("noted", facts=(fact,))


tool = FunctionTool(schema("remember", "Keep a note; replaces the one on the same subject.", subject="", note=""), run)
