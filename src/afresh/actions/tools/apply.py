"""Carry out a precomputed suggestion."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from keyword import iskeyword
from typing import Any

from afresh.actions.tools.edit import replace_text
from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.step_result import ToolOutcome
from afresh.core.verdict import Baseline
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import read_text

FORMATTER_SECONDS = 120


def apply_suggestion(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    """The suggestion was archived with the call that offered it, so it is the same after a crash. It is applied whole or not at
    all. A file that the project's formatter would leave as it is stays such a file."""
    title, edits, names = read_suggestion(args["id"].strip("[]`"), context)
    before = {edit["path"]: context.files.read(edit["path"]) for edit in edits}
    chosen = choose_names(str(args.get("name", "")), names, edits, context)
    tidy = [path for path in before if run_formatter(context, path, ("--check",))]
    try:
        done = [replace_text(context.files, edit["path"], edit["old"], rename_words(edit["new"], chosen)) for edit in edits]
    except ModelMistake:
        for path, text in before.items():
            context.files.write(path, text)
        raise
    done += [f"formatted {path}" for path in tidy if run_formatter(context, path)]
    for number, name in enumerate(chosen.values(), 1):
        title = re.sub(rf"\bNAME{number if number > 1 else ''}\b", name, title)
    return ToolOutcome("\n".join([title, *done]))


def rename_words(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\w+", lambda word: names.get(word[0], word[0]), text)


def choose_names(text: str, names: Sequence[str], edits: Sequence[Mapping[str, str]], context: ToolContext) -> dict[str, str]:
    """Return the name for each default name: the default one if none was given. ModelMistake for a name that can't be used."""
    words = re.split(r"[,\s]+", text.strip(" ,`")) if text.strip() else list(names)
    if len({*words}) != len(names):
        raise ModelMistake(f"apply: {len(names)} new functions need as many names, with commas between them")
    for default, name in zip(names, words, strict=True):
        if not name.isidentifier() or iskeyword(name):
            raise ModelMistake(f"apply: {name!r} is no name for a function")
        method = any(f".{default}(" in edit["new"] for edit in edits)
        paths = [path for path in context.files.paths() if path.endswith(".py")] if method else {edit["path"] for edit in edits}
        taken = (path for path in paths if re.search(rf"\b{name}\b", read_text(context.files, path) or ""))
        if name != default and (path := next(iter(taken), "")):
            raise ModelMistake(f"apply: {path} uses the name {name} already; choose another")
    return dict(zip(names, words, strict=True))


def run_formatter(context: ToolContext, path: str, options: Sequence[str] = ()) -> bool:
    """Whether the project has a formatter, and it ended well for this file."""
    formatter = (context.state.verification.baseline or Baseline()).formatter
    if formatter is None:
        return False
    return context.sandbox.run(f"{formatter.command} {shlex.join([*options, path])}", FORMATTER_SECONDS).exit == 0


def read_suggestion(id: str, context: ToolContext) -> tuple[str, list[Any], list[str]]:
    """Its title, its edits and the default names of its new functions: a line each, the edits as JSON."""
    try:
        title, plain, *names = context.store.read(id).split("\n")
        edits = json.loads(plain)
    except (KeyError, ValueError):
        title, edits, names = "", None, []
    if not isinstance(edits, list):
        raise ModelMistake(f"apply: no suggestion {id!r}; see the ids under Suggestions")
    return title, edits, " ".join(names).split()


tool = FunctionTool(make_tool_schema("apply", "Take a suggestion.", optional=("name",), id="", name=""), apply_suggestion)
