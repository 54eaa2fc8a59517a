"""Functions that were brought within the limit, those that stay over it and why, and a task that ends because of that."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.core.reply import OFFLINE_MODEL
from afresh.core.state import State
from afresh.core.task import FIX_VIOLATION_TYPE
from afresh.core.text import format_count
from afresh.core.verdict import LoweredFunction, UnfixedFunction, Verdict, describe_unfixed
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
    return f"nothing to offer{_describe_proposals(unfixed)}: {describe_unfixed(unfixed)}"


def _describe_proposals(unfixed: Sequence[UnfixedFunction]) -> str:
    """How many functions only lack a name for a new function, and how to get there; empty if none does."""
    proposed = sum(one.needs_name for one in unfixed)
    if not proposed:
        return ""
    return (
        f" without a new name. Extractions would bring {proposed} of {format_count(len(unfixed), 'function')} to the limit, but "
        "a person has to choose the names. `afresh violations` lists them with proposed names; --model 'offline?extract=yes' "
        "applies them under these names. Left alone"
    )


def add_function_changes(verdict: Verdict, context: ToolContext, workspace: Workspace) -> Verdict:
    """With the functions that were brought down, and those that are still over the limit, and why."""
    if context.state.task.judged_as != FIX_VIOLATION_TYPE:
        return verdict
    unfixed = tuple(context.insight.explain_unfixed(context.state, context.files))
    evidence = replace(verdict.evidence, unfixed=unfixed, lowered=_find_lowered_functions(context, workspace))
    return replace(verdict, evidence=evidence)


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
