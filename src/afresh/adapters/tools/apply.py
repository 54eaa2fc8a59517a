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
    title, edits = suggestion(args["id"].strip("[]`"), bench)
    done = [replaced(bench.files, edit["path"], edit["old"], edit["new"]) for edit in edits]
    return Outcome("\n".join([title, *done]))


def suggestion(id: str, bench: Bench) -> tuple[str, list[Any]]:
    """Its title and its edits: a line of words, then a line of JSON."""
    try:
        title, _, plain = bench.store.read(id).partition("\n")
        edits = json.loads(plain)
    except (KeyError, ValueError):
        title, edits = "", None
    if not isinstance(edits, list):
        raise ModelMistake(f"apply: no suggestion {id!r}; ids stand under Suggestions")
    return title, edits


tool = FunctionTool(schema("apply", "Carry out a suggestion.", id=""), run, changes=True)
