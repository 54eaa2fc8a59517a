"""Look at a window of a file. The lines stay under "Files", read anew for every call, so they are never stale."""

from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.domain.fact import Region
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome

LINES = 80


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    count = len(bench.files.read(args["path"]).splitlines())
    start = max(1, int(args.get("start", 1)))
    if start > max(1, count):
        raise ModelMistake(f"{args['path']} has only {count} lines")
    end = min(count, start + max(1, int(args.get("lines", LINES))) - 1)
    end = count if "lines" not in args and count - end < LINES // 4 else end
    region = Region(args["path"], start, end, bench.state.step + 1)
    return Outcome(f"{args['path']}: lines {start}-{end} of {count}", regions=(region,))


tool = FunctionTool(
    schema(
        "read", f"Show lines of a file ({LINES} from `start` on).", ("start", "lines"),
        path="", start=("integer", ""), lines=("integer", ""),
    ),
    run,
)  # fmt: skip
