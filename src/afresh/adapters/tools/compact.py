"""Put away what lies behind: older steps go from memory and leave a summary. Only where nothing is half done."""

from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.domain.boundary import unclean
from afresh.domain.event import CompactionWanted
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome

LONGEST = 300


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    keep = args["keep"].strip()
    if not keep or len(keep) > LONGEST:
        raise ModelMistake(f"compact: say in `keep` what later steps must know, in at most {LONGEST} characters")
    if why := unclean(bench.state):
        raise ModelMistake(f"compact: not now, {why}")
    return Outcome("older steps are put away before the next call", events=(CompactionWanted(keep),))


tool = FunctionTool(schema("compact", "Put older steps away; `keep`: what later ones need (300 characters).", keep=""), run)
