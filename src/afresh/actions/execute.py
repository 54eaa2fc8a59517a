"""Do what the recorded reply asks, in the sandbox, and see what it did to the tree."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from afresh.actions.built_in_policies import BUILT_IN_POLICIES
from afresh.actions.delegation_rules import make_hand_out
from afresh.core.action_policy import ActionPolicy, ApprovalNeeded, ProposedAction, Refusal
from afresh.core.event import PlanSet, QuestionAsked
from afresh.core.progress_event import ActionBegan, ActionEnded
from afresh.core.redaction import redact_secrets, redact_value
from afresh.core.state import State
from afresh.core.step_result import ActionResult, StepActions, ToolOutcome
from afresh.core.tool_traits import ToolTrait
from afresh.errors import ModelMistake
from afresh.policy.next_call import layout_for_next_call, select_task_tools
from afresh.ports.tool import Tool, ToolContext
from afresh.runtime import Runtime

WAITS_FOR_APPROVAL = "not done yet: a person is asked first"
NO_TRAITS = frozenset[ToolTrait]()


def execute_actions(state: State, runtime: Runtime) -> StepActions:
    """A step that is taken again after a crash starts from the same tree: `prepare` has restored it."""
    assert state.work.pending, "a step acts on a recorded reply"
    layout, done = layout_for_next_call(state, runtime.settings.template), list[ActionResult]()
    tools = {
        tool.schema.name: tool
        for tool in select_task_tools(runtime.settings.tools, state.task)
        if tool.schema.name in layout.tools
    }
    for place, action in enumerate(state.work.pending.reply.actions, 1):
        runtime.check_cancelled()
        runtime.report_progress(ActionBegan(action))
        traits = tools[action.tool].traits if action.tool in tools else NO_TRAITS
        proposed = ProposedAction(action, traits, tuple(tools), layout, state, tuple(done))
        context = replace(runtime.tool_context(state), hand_out=make_hand_out(state, runtime, place))
        outcome = execute_action(proposed, tools, context, (*BUILT_IN_POLICIES, *runtime.control.policies))
        runtime.report_progress(ActionEnded(action, outcome.ok))
        done.append(ActionResult(action, outcome))
        if any(isinstance(event, PlanSet) for event in outcome.events):
            layout = runtime.settings.template.at(state.phase)
    return snapshot_after_actions(state, runtime, tuple(done), tools)


def execute_action(
    proposed: ProposedAction, tools: Mapping[str, Tool], context: ToolContext, policies: Sequence[ActionPolicy]
) -> ToolOutcome:
    objections = (objection for policy in policies if (objection := policy(proposed)))
    match next(objections, None):
        case Refusal(reason, settled):
            return ToolOutcome(reason, ok=False, refused=settled)
        case ApprovalNeeded(question, options):
            return ToolOutcome(WAITS_FOR_APPROVAL, ok=False, refused=True, events=(QuestionAsked(question, options, "harness"),))
        case None:
            return run_tool(tools[proposed.action.tool], proposed, context)


def run_tool(tool: Tool, proposed: ProposedAction, context: ToolContext) -> ToolOutcome:
    try:
        return redact_value(tool.run(proposed.action.args, context))
    except ModelMistake as mistake:
        return ToolOutcome(redact_secrets(str(mistake)), ok=False)


def snapshot_after_actions(
    state: State, runtime: Runtime, done: tuple[ActionResult, ...], tools: Mapping[str, Tool]
) -> StepActions:
    if any(deed.action.tool in tools and ToolTrait.CHANGES in tools[deed.action.tool].traits for deed in done):
        after = runtime.workspace.snapshot()
        changes = tuple(runtime.workspace.changes(state.workspace.snapshot, after)) if after != state.workspace.snapshot else ()
        return StepActions(done, after, changes)
    if any(deed.outcome.traces for deed in done):
        runtime.workspace.restore(state.workspace.snapshot)
    return StepActions(done, state.workspace.snapshot)
