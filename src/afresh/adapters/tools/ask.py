"""Ask the person who gave the task. The task waits for the answer."""

from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.domain.event import Asked
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome

QUESTION = 600
OPTIONS = 6
OPTION = 200
"""Question and options stand beside the answer in later windows, so they are short."""


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    question, options = args["question"].strip(), tuple(text.strip() for text in args.get("options", ()))
    if not question:
        raise ModelMistake("ask: the question is empty")
    if len(question) > QUESTION or len(options) > OPTIONS or any(not 0 < len(text) <= OPTION for text in options):
        raise ModelMistake(f"ask: at most {QUESTION} characters and {OPTIONS} options of {OPTION} characters each")
    return Outcome("asked; the task waits", events=(Asked(question, options),))


ask = schema("ask", "Ask the user, only if you cannot decide.", ("options",), question="", options=("array", "'name: meaning'"))
tool = FunctionTool(ask, run)
