"""Do what the recorded reply asks, in the sandbox, and see what it did to the tree."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from afresh.actions.built_in_policies import BUILT_IN_POLICIES
from afresh.actions.delegation_rules import make_hand_out
from afresh.core.action import Action
from afresh.core.action_policy import ActionPolicy, ApprovalNeeded, ProposedAction, Refusal
from afresh.core.event import PlanSet, QuestionAsked
from afresh.core.progress_event import ActionBegan, ActionEnded, ChangeMade
from afresh.core.redaction import redact_secrets, redact_value
from afresh.core.reducer import apply_event
from afresh.core.reply import answer_from_words
from afresh.core.state import State
from afresh.core.step_result import SPOILED_NOTE, ActionResult, StepResult, ToolOutcome
from afresh.core.tool_traits import ToolTrait
from afresh.errors import ModelMistake, UnreadableTree
from afresh.policy.next_call import layout_for_next_call, select_task_tools
from afresh.ports.tool import Tool, ToolContext
from afresh.runtime import Runtime

WAITS_FOR_APPROVAL = "not done yet: a person is asked first"
NO_TRAITS = frozenset[ToolTrait]()


def list_actions(state: State) -> Sequence[Action]:
    """Those of the reply that waits; of words alone, in a conversation, the completion that they are."""
    if not state.work.pending:
        return ()
    reply = state.work.pending.reply
    answer = answer_from_words(reply, state.dialogue.turn)
    return (Action("complete", {"summary": answer}),) if answer else reply.actions


def execute_actions(state: State, runtime: Runtime) -> StepResult:
    """A step that is taken again after a crash starts from the same tree: `prepare_task` has restored it."""
    layout, done, now = layout_for_next_call(state, runtime.settings.template), list[ActionResult](), state
    tools = {
        tool.schema.name: tool
        for tool in select_task_tools(runtime.settings.tools, state.task, runtime.settings.template)
        if tool.schema.name in layout.tools
    }
    for place, action in enumerate(list_actions(state), 1):
        runtime.check_cancelled()
        runtime.report_progress(ActionBegan(action))
        traits = tools[action.tool].traits if action.tool in tools else NO_TRAITS
        proposed = ProposedAction(action, traits, tuple(tools), layout, state, tuple(done), runtime.sandbox.level)
        context = replace(runtime.tool_context(now), hand_out=make_hand_out(state, runtime, place))
        outcome = execute_action(proposed, tools, context, (*BUILT_IN_POLICIES, *runtime.control.policies))
        runtime.report_progress(ActionEnded(action, outcome.ok))
        done.append(ActionResult(action, outcome))
        if any(isinstance(event, PlanSet) for event in outcome.events):
            layout = runtime.settings.template.at(state.phase)
        for event in outcome.events:  # later actions of the same reply must know the ticks of the plan
            now = apply_event(event, now) if isinstance(event, PlanSet) else now
    return snapshot_after_actions(state, runtime, StepResult(tuple(done), state.workspace.snapshot), tools)


def execute_action(
    proposed: ProposedAction, tools: Mapping[str, Tool], context: ToolContext, policies: Sequence[ActionPolicy]
) -> ToolOutcome:
    objections = (objection for policy in policies if (objection := policy(proposed)))
    match next(objections, None):
        case Refusal(reason, settled):
            return ToolOutcome(reason, ok=False, refused=settled)
        case ApprovalNeeded(question, options, network):
            asked = QuestionAsked(question, options, "harness", network=network)
            return ToolOutcome(WAITS_FOR_APPROVAL, ok=False, refused=True, events=(asked,))
        case None:
            return run_tool(tools[proposed.action.tool], proposed, context)


def run_tool(tool: Tool, proposed: ProposedAction, context: ToolContext) -> ToolOutcome:
    try:
        return redact_value(tool.run(proposed.action.args, context))
    except ModelMistake as mistake:
        return ToolOutcome(redact_secrets(str(mistake)), ok=False)


def add_note(deed: ActionResult, note: str) -> ActionResult:
    """The result of an action after which nothing was kept."""
    text = f"{deed.outcome.text}\n[{note}]"
    return ActionResult(deed.action, replace(deed.outcome, text=text, ok=False, spoiled=True, complete=""))


def snapshot_after_actions(state: State, runtime: Runtime, taken: StepResult, tools: Mapping[str, Tool]) -> StepResult:
    if any(result.outcome.spoiled for result in taken.done):
        runtime.workspace.restore(state.workspace.snapshot, fresh=True)
        return taken
    changing = any(result.action.tool in tools and ToolTrait.CHANGES in tools[result.action.tool].traits for result in taken.done)
    if changing:
        try:
            after = runtime.workspace.snapshot(whole=True)
        except UnreadableTree as fault:
            runtime.workspace.restore(state.workspace.snapshot, fresh=True)
            return replace(taken, done=(*taken.done[:-1], add_note(taken.done[-1], f"stopped: {fault}; {SPOILED_NOTE}")))
        changes = tuple(runtime.workspace.changes(state.workspace.snapshot, after)) if after != state.workspace.snapshot else ()
        if changes:
            runtime.report_progress(ChangeMade(changes))
        return replace(taken, snapshot=after, changes=changes)
    if any(deed.outcome.traces for deed in taken.done):
        runtime.workspace.restore(state.workspace.snapshot)
    return taken
