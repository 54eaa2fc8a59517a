"""Functions that were brought within the limit, those that stay over it and why, and a task that ends because of that."""

from dataclasses import replace

from afresh.core.reply import OFFLINE_MODEL
from afresh.core.state import State
from afresh.core.task import FIX_VIOLATION_TYPE
from afresh.core.verdict import LoweredFunction, Verdict, describe_unfixed
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import Workspace
from afresh.runtime import Runtime


def explain_nothing_to_offer(state: State, runtime: Runtime) -> str:
    """Why a task can end without a change: no function is over the limit, or the rules can lower none. Empty if there is work."""
    if state.task.judged_as != FIX_VIOLATION_TYPE:
        return ""
    if not runtime.code.measure(state, runtime.files):
        return "nothing to do: no function in its scope is over the limit"
    if runtime.model.name != OFFLINE_MODEL:
        return ""
    unfixed = runtime.code.explain_unfixed(state, runtime.files)
    runtime.check_cancelled()
    if any(not one.reason for one in unfixed):
        return ""
    return f"nothing to offer: {describe_unfixed(unfixed)}"


def add_function_changes(verdict: Verdict, context: ToolContext, workspace: Workspace) -> Verdict:
    """With the functions that were brought down, and those that are still over the limit, and why."""
    if context.state.task.judged_as != FIX_VIOLATION_TYPE:
        return verdict
    unfixed = tuple(context.insight.explain_unfixed(context.state, context.files))
    return replace(verdict, unfixed=unfixed, lowered=_find_lowered_functions(context, workspace))


def _find_lowered_functions(context: ToolContext, workspace: Workspace) -> tuple[LoweredFunction, ...]:
    """Compare the changed files with the base; the tree is left as it was found."""
    snapshot, base = workspace.snapshot(), context.state.workspace.first_snapshot
    paths = [change.path for change in workspace.changes(base, snapshot)]
    after = context.insight.measure_functions(paths, context.files)
    try:
        workspace.restore(base, paths)
        before = context.insight.measure_functions(paths, context.files)
    finally:
        workspace.restore(snapshot)
    return tuple(LoweredFunction(name, was, after[name]) for name, was in before.items() if after.get(name, was) < was)
