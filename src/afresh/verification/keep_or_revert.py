"""Keep a change, or put the tree back as it was before the step that made things worse."""

from dataclasses import replace

from afresh.core.change import hunks_from_changes
from afresh.core.event import ChangeKeptOrReverted, OutputDigested, PlanSet
from afresh.core.fact import Fact, FactKind
from afresh.core.state import State
from afresh.core.step_result import StepResult
from afresh.core.verdict import Verdict
from afresh.memory.failed_approaches import (
    clear_kept_attempts,
    forget_batches,
    remember_failed_approach,
    remember_refusal,
)
from afresh.runtime import Runtime


def keep_or_revert(state: State, step: StepResult, runtime: Runtime) -> StepResult:
    if step.regressed:
        return revert_step(state, step, runtime)
    if step.verdict and step.verdict.strays:
        return revert_strays(state, step, step.verdict, runtime)
    settled = keep_changes(state, step, runtime)
    if not step.refused:
        return settled
    refused, blocks = remember_refusal(state.work.step + 1, step)
    return settled.add(OutputDigested(facts=(refused,)), blocks=blocks)


def keep_changes(state: State, step: StepResult, runtime: Runtime) -> StepResult:
    number, workspace = state.work.step + 1, state.workspace
    if not step.changes:
        same = ChangeKeptOrReverted(number, True, workspace.snapshot, workspace.changed)
        return replace(step.add(same), snapshot=workspace.snapshot)
    changed = tuple(change.path for change in runtime.workspace.changes(workspace.first_snapshot, step.snapshot))
    kept = ChangeKeptOrReverted(number, True, step.snapshot, changed, hunks=tuple(hunks_from_changes(step.changes)))
    return step.add(kept, *clear_kept_attempts(state, step))


def reopen_plan_items(state: State, step: StepResult) -> tuple[PlanSet, ...]:
    """The plan without the marks that the reply set: its work is not there, or not all of it."""
    done = {item.text for item in state.work.plan if item.done}
    for event in [event for event in step.decided if isinstance(event, PlanSet)][-1:]:
        items = tuple(replace(item, done=item.done and item.text in done) for item in event.items)
        return (PlanSet(items),) if items != event.items else ()
    return ()


def revert_step(state: State, step: StepResult, runtime: Runtime) -> StepResult:
    """The tree as before the step. What failed is remembered, so that it is not tried again."""
    before, number, why = state.workspace.snapshot, state.work.step + 1, step.verdict.reason if step.verdict else ""
    runtime.workspace.restore(before)
    failed, blocks = remember_failed_approach(number, step)
    reverted = ChangeKeptOrReverted(number, False, before, state.workspace.changed, why=why)
    facts = OutputDigested(facts=(*forget_batches(state, step), failed))
    settled = step.add(reverted, facts, *reopen_plan_items(state, step), blocks=blocks)
    return replace(settled, kept=False, snapshot=before)


def revert_strays(state: State, step: StepResult, verdict: Verdict, runtime: Runtime) -> StepResult:
    """These files are as they were at the base again; all else that was done stays. An attempt is remembered, so that it is
    not repeated; what a command leaves behind was not tried, it only happened."""
    paths, number = verdict.strays, state.work.step + 1
    runtime.workspace.restore(state.workspace.first_snapshot, paths)
    snapshot = runtime.workspace.snapshot()
    changed = tuple(change.path for change in runtime.workspace.changes(state.workspace.first_snapshot, snapshot))
    moved = tuple(hunks_from_changes(runtime.workspace.changes(state.workspace.snapshot, snapshot)))
    why, worked = f"put back as at the base: {', '.join(paths)}", bool(step.changes)
    settled = ChangeKeptOrReverted(number, True, snapshot, changed, why=why, hunks=moved, put_back=paths, worked=worked)
    tried = [path for path in paths if any(action.action.args.get("path") == path for action in step.done)]
    failed = Fact(FactKind.FAILED_APPROACH, f"changing {', '.join(tried)}", f"refused: {verdict.reason}", step=number)
    return replace(step.add(settled, *([OutputDigested(facts=(failed,))] if tried else [])), snapshot=snapshot)
