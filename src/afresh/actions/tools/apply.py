"""Carry out a precomputed suggestion."""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from afresh.actions.tools.edit import replace_text
from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.step_result import ToolOutcome
from afresh.core.verdict import Baseline
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext

FORMATTER_SECONDS = 120


def apply_suggestion(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    """The suggestion was archived with the call that offered it, so it is the same after a crash. It is applied whole or not at
    all. A file that the project's formatter would leave as it is stays such a file."""
    title, edits = read_suggestion(args["id"].strip("[]`"), context)
    before = {edit["path"]: context.files.read(edit["path"]) for edit in edits}
    tidy = [path for path in before if run_formatter(context, path, ("--check",))]
    try:
        done = [replace_text(context.files, edit["path"], edit["old"], edit["new"]) for edit in edits]
    except ModelMistake:
        for path, text in before.items():
            context.files.write(path, text)
        raise
    done += [f"formatted {path}" for path in tidy if run_formatter(context, path)]
    return ToolOutcome("\n".join([title, *done]))


def run_formatter(context: ToolContext, path: str, options: Sequence[str] = ()) -> bool:
    """Whether the project has a formatter, and it ended well for this file."""
    formatter = (context.state.verification.baseline or Baseline()).formatter
    if formatter is None:
        return False
    return context.sandbox.run(f"{formatter.command} {shlex.join([*options, path])}", FORMATTER_SECONDS).exit == 0


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
