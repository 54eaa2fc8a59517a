"""Make a file, or replace a whole one."""

from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.ports import Bench, Outcome


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    known = args["path"] in bench.files.paths()
    bench.files.write(args["path"], args["content"])
    what = f"{'replaced' if known else 'made'} {args['path']} ({len(args['content'].splitlines())} lines)"
    return Outcome(f"{what}\n{args['content']}")


tool = FunctionTool(schema("write", "Create or overwrite a file.", path="", content=""), run, changes=True)
