"""Put a decision on record, with its reason. A newer one of the model's on the same subject takes its place."""

from collections.abc import Mapping
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.decision import Decision, has_same_subject
from afresh.core.event import DecisionMade
from afresh.core.step_result import ToolOutcome
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext

MAX_SUBJECT_CHARACTERS = 60
MAX_DECISION_CHARACTERS = 240


def record_decision(args: Mapping[str, Any], bench: ToolContext) -> ToolOutcome:
    subject, text, why = (" ".join(args[name].split()) for name in ("subject", "decision", "why"))
    if not (
        0 < len(subject) <= MAX_SUBJECT_CHARACTERS
        and 0 < len(text) <= MAX_DECISION_CHARACTERS
        and 0 < len(why) <= MAX_DECISION_CHARACTERS
    ):
        raise ModelMistake(
            f"decide: subject (at most {MAX_SUBJECT_CHARACTERS} characters), decision and why (at most "
            f"{MAX_DECISION_CHARACTERS}), none of them empty"
        )
    sure = args.get("confidence")
    if sure is not None and not 0 <= sure <= 1:
        raise ModelMistake("decide: confidence is a number from 0 to 1")
    before = [made for made in bench.state.memory.decisions if has_same_subject(made.subject, subject)]
    if theirs := next((made for made in before if made.by == "person"), None):
        raise ModelMistake(f"decide: the user has decided that: {theirs.text}; `ask` if it can't stand")
    made = Decision(text, "model", why, bench.state.work.step + 1, subject, None if sure is None else float(sure))
    instead = next((f"; no longer: {old.text}" for old in before if old.by == "model" and old.text != text), "")
    return ToolOutcome(f"decided{instead}", events=(DecisionMade(made),))


DECIDE_SCHEMA = make_tool_schema(
    "decide", "Record a choice between ways.", ("confidence",), subject="", decision="", why="",
    confidence=("number", "0-1"),
)  # fmt: skip
tool = FunctionTool(DECIDE_SCHEMA, record_decision)
