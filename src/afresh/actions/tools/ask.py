"""Ask the person who gave the task. The task waits for the answer."""

from collections.abc import Mapping
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.event import QuestionAsked
from afresh.core.states.dialogue_state import ACCEPT_WORK
from afresh.core.step_result import ToolOutcome
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext

MAX_QUESTION_CHARACTERS = 600
MAX_OPTIONS = 6
MAX_OPTION_CHARACTERS = 200
"""Later prompts show question and options beside the answer, so they are short."""


def ask_user(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    question, options = args["question"].strip(), tuple(text.strip() for text in args.get("options", ()))
    if not question:
        raise ModelMistake("ask: the question is empty")
    if any(text.casefold().startswith(ACCEPT_WORK) for text in options):
        raise ModelMistake(f"ask: an option that begins with {ACCEPT_WORK!r} is the harness's; word it differently")
    if (
        len(question) > MAX_QUESTION_CHARACTERS
        or len(options) > MAX_OPTIONS
        or any(not 0 < len(text) <= MAX_OPTION_CHARACTERS for text in options)
    ):
        raise ModelMistake(
            f"ask: at most {MAX_QUESTION_CHARACTERS} characters and {MAX_OPTIONS} options of {MAX_OPTION_CHARACTERS} "
            "characters each"
        )
    return ToolOutcome("asked; the task waits", events=(QuestionAsked(question, options),))


ASK_SCHEMA = make_tool_schema(
    "ask",
    "Ask the user if you cannot decide.",
    ("options",),
    question="",
    options=("array", ""),
)
tool = FunctionTool(ASK_SCHEMA, ask_user)
