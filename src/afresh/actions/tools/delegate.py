"""Hand out a part of the task. What comes back is a short result, never what was said and done on the way."""

from collections.abc import Mapping
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.fact import Fact, FactKind
from afresh.core.step_result import ToolOutcome
from afresh.core.subtask import Subtask, SubtaskResult, SubtaskReturned, SubtaskStatus
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext

MAX_GOAL_CHARACTERS = 1_500
MAX_LIST_ENTRIES = 6
MAX_ENTRY_CHARACTERS = 300
"""Characters of a goal; entries of a list and characters of each: a part has a small window too."""


def delegate_part(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    if context.hand_out is None:
        raise ModelMistake("delegate: there is nobody to hand this to; do it yourself")
    result = context.hand_out(part_from_args(args))
    return ToolOutcome(
        result.text, result.status is SubtaskStatus.DONE, (SubtaskReturned(result),), facts=facts_from_failure(result)
    )


def part_from_args(args: Mapping[str, Any]) -> Subtask:
    goal, checks, paths = args["goal"].strip(), read_text_list(args, "checks"), read_text_list(args, "paths")
    if not goal or len(goal) > MAX_GOAL_CHARACTERS:
        raise ModelMistake(f"delegate: the goal needs 1 to {MAX_GOAL_CHARACTERS:,} characters, it has {len(goal):,}")
    if max(len(checks), len(paths)) > MAX_LIST_ENTRIES or any(len(text) > MAX_ENTRY_CHARACTERS for text in (*checks, *paths)):
        raise ModelMistake(
            f"delegate: at most {MAX_LIST_ENTRIES} checks and {MAX_LIST_ENTRIES} paths of {MAX_ENTRY_CHARACTERS} characters"
        )
    return Subtask(goal, args.get("type", "").strip(), checks, paths)


def read_text_list(args: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(text.strip() for text in args.get(name, ()) if text.strip())


def facts_from_failure(result: SubtaskResult) -> tuple[Fact, ...]:
    """Known in all later windows, so that the same is not handed out again."""
    if result.status is SubtaskStatus.DONE:
        return ()
    why = f"{result.status.value}: {result.summary}"
    return (Fact(FactKind.FAILED_APPROACH, f"delegate {result.goal}", why, step=result.step),)


DELEGATE_SCHEMA = make_tool_schema(
    "delegate", "Hand an item of a plan with 3 open ones to another agent. `goal`: all it must know.",
    ("type", "checks", "paths"), goal="", type="", checks=("array", ""), paths=("array", ""),
)  # fmt: skip
tool = FunctionTool(DELEGATE_SCHEMA, delegate_part)
