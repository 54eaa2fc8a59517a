"""Keep a change, or put the tree back as it was before the step that made things worse."""

from dataclasses import replace

from afresh.core.change import hunks_from_changes
from afresh.core.event import ChangeKeptOrReverted, OutputDigested, PlanSet
from afresh.core.fact import Fact, FactKind
from afresh.core.state import State
from afresh.core.step_result import KeepOrRevertResult, StepActions, StepVerification
from afresh.core.verdict import Verdict
from afresh.memory.failed_approaches import (
    clear_kept_attempts,
    forget_batches,
    remember_failed_approach,
    remember_refusal,
)
from afresh.runtime import Runtime


def keep_or_revert(state: State, deeds: StepActions, judged: StepVerification, runtime: Runtime) -> KeepOrRevertResult:
    if judged.regressed:
        return revert_step(state, deeds, judged, runtime)
    settled = keep_changes(state, deeds, judged, runtime)
    if not judged.refused or not judged.verdict or judged.verdict.strays:
        return settled
    refused, blocks = remember_refusal(state.work.step + 1, judged)
    return replace(settled, events=(*settled.events, OutputDigested(facts=(refused,))), blocks=blocks)


def keep_changes(state: State, deeds: StepActions, judged: StepVerification, runtime: Runtime) -> KeepOrRevertResult:
    """All of it, or all but the files that must be as they were."""
    if judged.verdict and judged.verdict.strays:
        return revert_strays(state, judged.verdict, runtime, deeds)
    if not deeds.changes:
        return KeepOrRevertResult(
            True,
            state.workspace.snapshot,
            (ChangeKeptOrReverted(state.work.step + 1, True, state.workspace.snapshot, state.workspace.changed),),
        )
    changed = tuple(change.path for change in runtime.workspace.changes(state.workspace.first_snapshot, deeds.snapshot))
    settled = ChangeKeptOrReverted(
        state.work.step + 1, True, deeds.snapshot, changed, hunks=tuple(hunks_from_changes(deeds.changes))
    )
    return KeepOrRevertResult(True, deeds.snapshot, (settled, *clear_kept_attempts(state, deeds)))


def reopen_plan_items(state: State, deeds: StepActions) -> tuple[PlanSet, ...]:
    """The plan without the marks that the reply set: its work is not there, or not all of it."""
    done = {item.text for item in state.work.plan if item.done}
    for event in [event for event in deeds.events if isinstance(event, PlanSet)][-1:]:
        items = tuple(replace(item, done=item.done and item.text in done) for item in event.items)
        return (PlanSet(items),) if items != event.items else ()
    return ()


def revert_step(state: State, deeds: StepActions, judged: StepVerification, runtime: Runtime) -> KeepOrRevertResult:
    """The tree as before the step. What failed is remembered, so that it is not tried again."""
    runtime.workspace.restore(state.workspace.snapshot)
    step, why = state.work.step + 1, judged.verdict.reason if judged.verdict else ""
    failed, blocks = remember_failed_approach(step, deeds, judged)
    reverted = ChangeKeptOrReverted(step, False, state.workspace.snapshot, state.workspace.changed, why=why)
    facts = (*forget_batches(state, deeds), failed)
    events = (reverted, OutputDigested(facts=facts), *reopen_plan_items(state, deeds))
    return KeepOrRevertResult(False, state.workspace.snapshot, events, blocks)


def revert_strays(state: State, verdict: Verdict, runtime: Runtime, deeds: StepActions) -> KeepOrRevertResult:
    """These files are as they were at the base again; all else that was done stays. An attempt is remembered, so that it is
    not repeated; what a command leaves behind was not tried, it only happened."""
    paths, step = verdict.strays, state.work.step + 1
    runtime.workspace.restore(state.workspace.first_snapshot, paths)
    snapshot = runtime.workspace.snapshot()
    changed = tuple(change.path for change in runtime.workspace.changes(state.workspace.first_snapshot, snapshot))
    moved = tuple(hunks_from_changes(runtime.workspace.changes(state.workspace.snapshot, snapshot)))
    why, worked = f"put back as at the base: {', '.join(paths)}", bool(deeds.changes)
    settled = ChangeKeptOrReverted(step, True, snapshot, changed, why=why, hunks=moved, put_back=paths, worked=worked)
    tried = [path for path in paths if any(deed.action.args.get("path") == path for deed in deeds.done)]
    failed = Fact(FactKind.FAILED_APPROACH, f"changing {', '.join(tried)}", f"refused: {verdict.reason}", step=step)
    return KeepOrRevertResult(True, snapshot, (settled, *([OutputDigested(facts=(failed,))] if tried else [])))
