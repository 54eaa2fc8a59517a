"""Carry out a precomputed suggestion."""

import json
from collections.abc import Mapping
from typing import Any

from afresh.actions.tools.edit import replace_unique_text
from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.step_result import ToolOutcome
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext


def apply_suggestion(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    """The suggestion was archived with the call that offered it, so it is the same after a crash."""
    title, edits = read_suggestion(args["id"].strip("[]`"), context)
    done = [replace_unique_text(context.files, edit["path"], edit["old"], edit["new"]) for edit in edits]
    return ToolOutcome("\n".join([title, *done]))


def read_suggestion(id: str, context: ToolContext) -> tuple[str, list[Any]]:
    """Its title and its edits: a line of words, then a line of JSON."""
    try:
        title, _, plain = context.store.read(id).partition("\n")
        edits = json.loads(plain)
    except (KeyError, ValueError):
        title, edits = "", None
    if not isinstance(edits, list):
        raise ModelMistake(f"apply: no suggestion {id!r}; see the ids under Suggestions")
    return title, edits


tool = FunctionTool(make_tool_schema("apply", "Carry out a suggestion.", id=""), apply_suggestion)
