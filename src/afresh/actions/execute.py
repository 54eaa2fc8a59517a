"""Do what the recorded reply asks, in the sandbox, and see what it did to the tree."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from afresh.actions.delegation import find_reason_not_to_delegate, make_hand_out
from afresh.core.action import Action
from afresh.core.event import PlanSet
from afresh.core.progress_state import Escalation
from afresh.core.state import State
from afresh.core.step_result import ActionResult, StepActions, ToolOutcome
from afresh.core.strategy_state import PlanItem
from afresh.core.template import CallLayout
from afresh.errors import ModelMistake
from afresh.journal.append import report_progress
from afresh.policy.next_call import DELEGATE_TOOL, layout_for_next_call, select_task_tools
from afresh.policy.stall.step_trace import hash_action
from afresh.ports import Tool, ToolContext
from afresh.runtime import Runtime

OVERRULED_BY_USER = "not done: the user has spoken before it was; heed that first"


def execute_actions(state: State, agent: Runtime) -> StepActions:
    """A step that is taken again after a crash starts from the same tree: `prepare` has restored it."""
    assert state.work.pending, "a step acts on a recorded reply"
    layout, bench, done = layout_for_next_call(state, agent.template), agent.bench(state), list[ActionResult]()
    tools = index_offered_tools(state, agent, layout)
    for place, action in enumerate(state.work.pending.reply.actions, 1):
        report_progress(agent, action.tool)
        if state.dialogue.supervision.overruled:
            done.append(ActionResult(action, ToolOutcome(OVERRULED_BY_USER, ok=False, refused=True)))
            continue
        able = replace(bench, hand_out=make_hand_out(state, agent, place)) if action.tool == DELEGATE_TOOL else bench
        why = explain_closed_tool(action.tool, tools, layout, find_current_plan(state, done)) if action.tool in tools else ""
        done.append(ActionResult(action, ToolOutcome(why, ok=False) if why else execute_action(action, tools, able, done)))
        if action.tool == "plan" and done[-1].outcome.ok:
            layout = agent.template.at(state.phase)
    return snapshot_after_actions(state, agent, tuple(done), tools)


def index_offered_tools(state: State, agent: Runtime, layout: CallLayout) -> dict[str, Tool]:
    """The tools that were offered."""
    return {tool.schema.name: tool for tool in select_task_tools(agent.tools, state.task) if tool.schema.name in layout.tools}


def explain_closed_tool(name: str, tools: Iterable[str], layout: CallLayout, plan: Sequence[PlanItem]) -> str:
    """Why a tool that is offered in every call is refused in this one; empty if it is not. Whoever has just made the plan may
    begin with it in the same reply."""
    if name == DELEGATE_TOOL and (too_little := find_reason_not_to_delegate(plan)):
        return too_little
    if name not in layout.closed:
        return ""
    why = layout.cue.replace("\n", " ") or f"it is not for the phase {layout.phase}."
    return f"{name} is refused now: {why} The tools for now are: {', '.join(one for one in tools if one not in layout.closed)}"


def find_current_plan(state: State, done: Sequence[ActionResult]) -> Sequence[PlanItem]:
    """The plan as it is in the middle of a reply."""
    made = [event.items for deed in done for event in deed.outcome.events if isinstance(event, PlanSet)]
    return made[-1] if made else state.work.plan


def execute_action(action: Action, tools: dict[str, Tool], bench: ToolContext, before: list[ActionResult]) -> ToolOutcome:
    tool = tools.get(action.tool)
    if tool is None:
        return ToolOutcome(f"there is no tool {action.tool!r} here; the tools are: {', '.join(tools)}", ok=False)
    if why := refuse_repeated_action(action, bench.state):
        return ToolOutcome(why, ok=False, refused=True)
    if action.tool == "complete" and not all(deed.outcome.ok for deed in before):
        return ToolOutcome("not completed: an action before it in the same reply failed", ok=False)
    if action.tool == "ask" and any(deed.action.tool == "ask" and deed.outcome.ok for deed in before):
        return ToolOutcome("not asked: one question at a time", ok=False)
    try:
        return tool.run(action.args, bench)
    except ModelMistake as mistake:
        return ToolOutcome(str(mistake), ok=False)


def snapshot_after_actions(state: State, agent: Runtime, done: tuple[ActionResult, ...], tools: dict[str, Tool]) -> StepActions:
    if any(deed.action.tool in tools and tools[deed.action.tool].changes for deed in done):
        after = agent.workspace.snapshot()
        changes = tuple(agent.workspace.changes(state.workspace.snapshot, after)) if after != state.workspace.snapshot else ()
        return StepActions(done, after, changes)
    if any(deed.outcome.traces for deed in done):
        agent.workspace.restore(state.workspace.snapshot)
    return StepActions(done, state.workspace.snapshot)


REPEATED_ACTION_REFUSED = "not done again"


def refuse_repeated_action(action: Action, state: State) -> str:
    """Why, or nothing."""
    barred = [one for one in state.work.progress.alarms if one.rung is not Escalation.WARN and one.keys]
    if not barred:
        return ""
    asked = hash_action(action, state.workspace.snapshot)
    return next(
        (f"{REPEATED_ACTION_REFUSED}: {one.evidence}; nothing has changed since" for one in barred if asked in one.keys), ""
    )
