"""What a model may ask of its next prompts: older steps put away, or a larger ceiling, on which the harness decides."""

from collections.abc import Mapping
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.ceiling_state import LargerCeilingRequested
from afresh.core.event import CompactionRequested
from afresh.core.state import State
from afresh.core.step_history import MAX_KEPT_CHARACTERS, WITHDRAWAL_PREFIX, loses_kept_words
from afresh.core.step_result import ToolOutcome
from afresh.core.verdict import Ruling
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext


def find_compaction_obstacle(state: State) -> str:
    """Why older steps can't be put away now; empty if they can. Changes must be verified and the plan current."""
    if state.memory.recent and not state.memory.recent[-1].kept:
        return "the last change was undone: make one that holds first"
    if state.verification.verdict and state.verification.verdict.ruling is not Ruling.PASS:
        return f"what was verified last did not pass ({state.verification.verdict.reason}): fix that first"
    changed = max((region.step for region in state.memory.regions if region.changed), default=0)
    if changed > state.verification.verdict_step and state.task.checks:
        return "the last change is not verified: run the tests first"
    if changed > state.work.plan_step and any(not item.done for item in state.work.plan):
        return "an item of the plan may be half done: bring the plan up to date, and compact in the next reply"
    return ""


MAX_KEEP_CHARACTERS = 300


def request_compaction(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    keep = args["keep"].strip()
    if not keep or len(keep) > MAX_KEEP_CHARACTERS:
        raise ModelMistake(f"compact: say in `keep` what later steps must know, in at most {MAX_KEEP_CHARACTERS} characters")
    if loses_kept_words(context.state.memory.summary.keep, keep):
        told = f"what you keep may have {MAX_KEPT_CHARACTERS} characters in all"
        raise ModelMistake(f'compact: {told}: withdraw some first, with keep="{WITHDRAWAL_PREFIX} WORDS OF IT"')
    if why := find_compaction_obstacle(context.state):
        raise ModelMistake(f"compact: not now, {why}")
    return ToolOutcome("older steps are put away before the next call", events=(CompactionRequested(keep),))


compact = FunctionTool(
    make_tool_schema("compact", "Put older steps away; `keep`: what later steps need (300 characters).", keep=""),
    request_compaction,
)


def request_larger_ceiling(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    if not args["reason"].strip():
        raise ModelMistake("more_room: say what was left out that you need")
    return ToolOutcome(
        "asked for; the next call is larger if the limit allows it", events=(LargerCeilingRequested(args["reason"]),)
    )


more_room = FunctionTool(
    make_tool_schema("more_room", "Get a larger window; `reason`: what is missing.", reason=""), request_larger_ceiling
)
