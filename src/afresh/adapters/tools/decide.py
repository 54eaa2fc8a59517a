"""Put a decision on record, with its reason. A newer one of the model's on the same subject takes its place."""

from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.domain.decided import same_subject
from afresh.domain.event import Decided
from afresh.domain.fact import Decision
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome

SUBJECT = 60
LENGTH = 240


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    subject, text, why = (" ".join(args[name].split()) for name in ("subject", "decision", "why"))
    if not (0 < len(subject) <= SUBJECT and 0 < len(text) <= LENGTH and 0 < len(why) <= LENGTH):
        raise ModelMistake(
            f"decide: subject (at most {SUBJECT} characters), decision and why (at most {LENGTH}), none of them empty"
        )
    sure = args.get("confidence")
    if sure is not None and not 0 <= sure <= 1:
        raise ModelMistake("decide: confidence is a number from 0 to 1")
    before = [made for made in bench.state.decisions if same_subject(made.subject, subject)]
    if theirs := next((made for made in before if made.by == "person"), None):
        raise ModelMistake(f"decide: the user has decided that: {theirs.text}; `ask` if it can't stand")
    made = Decision(text, "model", why, bench.state.step + 1, subject, None if sure is None else float(sure))
    instead = next((f"; no longer: {old.text}" for old in before if old.by == "model" and old.text != text), "")
    return Outcome(f"decided{instead}", events=(Decided(made),))


decide = schema(
    "decide", "Record a choice between ways.", ("confidence",), subject="", decision="", why="",
    confidence=("number", "0-1"),
)  # fmt: skip
tool = FunctionTool(decide, run)
