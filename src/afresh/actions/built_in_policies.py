"""What the harness itself refuses, whatever a user's policies say."""

from collections.abc import Sequence

from afresh.actions.delegation_rules import find_reason_not_to_delegate
from afresh.actions.network_permission import ask_for_network
from afresh.core.action_policy import ActionPolicy, ApprovalNeeded, ProposedAction, Refusal, find_approval
from afresh.core.codec import to_canonical_json
from afresh.core.event import PlanSet
from afresh.core.redaction import REDACTED
from afresh.core.states.progress_state import Escalation
from afresh.core.states.strategy_state import PlanItem
from afresh.core.states.supervision_state import AUTONOMOUS_MODE
from afresh.core.steering_files import find_who_acts, list_unasked_steering_files
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.policy.stall.step_trace import hash_action

OVERRULED_BY_USER = "not done: the user has spoken before it was; heed that first"
REPEATED_ACTION_REFUSED = "not done again"


def refuse_overruled(proposed: ProposedAction) -> Refusal | None:
    return Refusal(OVERRULED_BY_USER, settled=True) if proposed.state.dialogue.supervision.overruled else None


def refuse_unknown_tool(proposed: ProposedAction) -> Refusal | None:
    if proposed.action.tool in proposed.offered:
        return None
    return Refusal(f"there is no tool {proposed.action.tool!r} here; the tools are: {', '.join(proposed.offered)}")


def refuse_small_part(proposed: ProposedAction) -> Refusal | None:
    """A plan set in this reply counts: its first item may be done in the same reply."""
    if ToolTrait.DELEGATES not in proposed.traits:
        return None
    too_little = find_reason_not_to_delegate(find_current_plan(proposed))
    return Refusal(too_little) if too_little else None


def find_current_plan(proposed: ProposedAction) -> Sequence[PlanItem]:
    """The plan as it is in the middle of a reply."""
    items = [event.items for deed in proposed.done for event in deed.outcome.events if isinstance(event, PlanSet)]
    return items[-1] if items else proposed.state.work.plan


def refuse_closed_tool(proposed: ProposedAction) -> Refusal | None:
    """A tool that is offered in every call may be closed in this one."""
    name, layout = proposed.action.tool, proposed.layout
    if name not in layout.closed:
        return None
    why = layout.cue.replace("\n", " ") or f"it is not for the phase {layout.phase}."
    open_tools = ", ".join(one for one in proposed.offered if one not in layout.closed)
    return Refusal(f"{name} is refused now: {why} The tools for now are: {open_tools}")


def refuse_repeated_action(proposed: ProposedAction) -> Refusal | None:
    """What led nowhere often enough is not done again in the same tree. Reads are not refused: prompts may show them no more."""
    barred = [alarm for alarm in proposed.state.work.progress.alarms if alarm.rung is not Escalation.WARN and alarm.key]
    if not barred or ToolTrait.READS in proposed.traits:
        return None
    asked = hash_action(proposed.action, proposed.state.workspace.snapshot)
    evidence = next((stall.evidence for stall in barred if asked == stall.key), None)
    if evidence is None:
        return None
    return Refusal(f"{REPEATED_ACTION_REFUSED}: {evidence}; nothing has changed since", settled=True)


def refuse_redacted_text(proposed: ProposedAction) -> Refusal | None:
    """The file has the secret where a prompt has the mark: a command that writes the mark would destroy it. `edit` keeps it."""
    traits = proposed.traits
    if ToolTrait.CHANGES not in traits or ToolTrait.WRITES in traits or REDACTED not in to_canonical_json(proposed.action.args):
        return None
    return Refusal(
        f"not done: {REDACTED} hides a secret, and a command does not know it. "
        f"`edit` does: keep {REDACTED} in `old` and in `new`, and the secret stays as it is"
    )


def refuse_steering_change(proposed: ProposedAction) -> Refusal | None:
    """What acts without being asked. A command that writes such a file is found at completion."""
    path = proposed.action.args.get("path")
    if ToolTrait.CHANGES not in proposed.traits or not isinstance(path, str):
        return None
    if not list_unasked_steering_files([path], proposed.state):
        return None
    who = find_who_acts(path, proposed.state.workspace.obeyed)
    text = f"not done: {path} acts unasked ({who}), and the user has named no change of it. Leave it as it is, or `ask`"
    return Refusal(text)


def refuse_completion_after_failure(proposed: ProposedAction) -> Refusal | None:
    if ToolTrait.COMPLETES not in proposed.traits or all(deed.outcome.ok for deed in proposed.done):
        return None
    return Refusal("not completed: an action before it in the same reply failed")


def refuse_second_question(proposed: ProposedAction) -> Refusal | None:
    asked = any(has_trait(deed.action, ToolTrait.ASKS) and deed.outcome.ok for deed in proposed.done)
    return Refusal("not asked: one question at a time") if ToolTrait.ASKS in proposed.traits and asked else None


def ask_before_foreign_tool(proposed: ProposedAction) -> Refusal | ApprovalNeeded | None:
    """Ask the person who follows the task before it first uses a tool outside of the sandbox; in other modes the order allows
    it."""
    mode = proposed.state.dialogue.supervision.mode or AUTONOMOUS_MODE
    if ToolTrait.FOREIGN not in proposed.traits or mode == AUTONOMOUS_MODE:
        return None
    question = f"It wants to use {proposed.action.tool}, which runs outside of the sandbox. May it, in this task?"
    approved = find_approval(proposed.state, question)
    if approved is None:
        return ApprovalNeeded(question)
    return None if approved else Refusal(f"not done: the user does not want {proposed.action.tool} to be used", settled=True)


BUILT_IN_POLICIES: tuple[ActionPolicy, ...] = (
    refuse_overruled,
    refuse_unknown_tool,
    refuse_small_part,
    refuse_closed_tool,
    refuse_repeated_action,
    refuse_redacted_text,
    refuse_steering_change,
    refuse_completion_after_failure,
    refuse_second_question,
    ask_for_network,
    ask_before_foreign_tool,
)
