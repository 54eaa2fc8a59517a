"""Carry out a precomputed suggestion."""

import json
from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.edit import replaced
from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    """The suggestion was archived with the call that offered it, so it is the same after a crash."""
    try:
        title, *rest = bench.store.read(args["id"].strip("[]`")).split("\n", 1)
        edits = json.loads(rest[0]) if rest else None
    except (KeyError, ValueError):
        edits = None
    if not isinstance(edits, list):
        raise ModelMistake(f"apply: no suggestion {args['id']!r}; ids stand under Suggestions")
    done = [replaced(bench.files, edit["path"], edit["old"], edit["new"]) for edit in edits]
    return Outcome("\n".join([title, *done]))


tool = FunctionTool(schema("apply", "Carry out a suggestion.", id=""), run, changes=True)
