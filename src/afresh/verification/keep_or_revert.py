"""Keep a change, or put the tree back as it was before the step that made things worse."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.core.change import hunks_from_changes
from afresh.core.event import ChangeKeptOrReverted, OutputDigested, PlanSet
from afresh.core.fact import Fact, FactKind
from afresh.core.licences.licence_for_tests import RefusedEdits
from afresh.core.state import State
from afresh.core.step_result import KeepOrRevertResult, StepActions, StepVerification
from afresh.core.verdict import Verdict, list_first_names
from afresh.memory.failed_approaches import (
    clear_kept_attempts,
    forget_batches,
    remember_failed_approach,
    remember_put_back,
    remember_refusal,
)
from afresh.runtime import Runtime

MAX_NAMED_PUT_BACK = 5
"""Tests or settings that are named where something was put back."""
MAX_SOURCE_CHARACTERS = 2_000
"""Of a refused change of a test that are kept, to compare them with the words of a licence."""


def keep_or_revert(state: State, deeds: StepActions, judged: StepVerification, runtime: Runtime) -> KeepOrRevertResult:
    """What was refused for want of a licence is recorded, so that it can be applied again; once."""
    settled = keep_or_restore_tree(state, deeds, judged, runtime)
    refused = find_refused_edits(state, deeds, judged, settled, runtime) if judged.put_back and not deeds.again else None
    events = [
        replace(event, refused=refused, again=deeds.again) if isinstance(event, ChangeKeptOrReverted) else event
        for event in settled.events
    ]
    return replace(settled, events=tuple(events))


def find_refused_edits(
    state: State, deeds: StepActions, judged: StepVerification, settled: KeepOrRevertResult, runtime: Runtime
) -> RefusedEdits:
    paths = tuple(change.path for change in runtime.workspace.changes(settled.snapshot, deeds.snapshot))
    tests = tuple(replace(one, source=one.source[:MAX_SOURCE_CHARACTERS]) for one in judged.put_back)
    return RefusedEdits(state.work.step + 1, settled.snapshot, deeds.snapshot, paths, tests)


def keep_or_restore_tree(state: State, deeds: StepActions, judged: StepVerification, runtime: Runtime) -> KeepOrRevertResult:
    if judged.regressed:
        return revert_step(state, deeds, judged, runtime)
    settled = keep_changes(state, deeds, judged, runtime)
    if not judged.refused or not judged.verdict or judged.verdict.weakened or judged.verdict.strays:
        return settled
    refused, blocks = remember_refusal(state.work.step + 1, judged)
    return replace(settled, events=(*settled.events, OutputDigested(facts=(refused,))), blocks=blocks)


def keep_changes(state: State, deeds: StepActions, judged: StepVerification, runtime: Runtime) -> KeepOrRevertResult:
    """All of it, or all but the files that must be as they were."""
    if judged.put_back:
        return keep_what_was_not_put_back(state, deeds, judged, runtime)
    if judged.verdict and judged.verdict.strays:
        return revert_strays(state, judged.verdict, runtime, describe_intended_strays(judged.verdict.strays, deeds))
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


def keep_what_was_not_put_back(
    state: State, deeds: StepActions, judged: StepVerification, runtime: Runtime
) -> KeepOrRevertResult:
    """The tree that was verified. What of it is as at the base again was not kept, and counts as tried."""
    step, paths = state.work.step + 1, judged.verdict.weakened if judged.verdict else ()
    changed = tuple(change.path for change in runtime.workspace.changes(state.workspace.first_snapshot, judged.snapshot))
    moved = tuple(hunks_from_changes(runtime.workspace.changes(state.workspace.snapshot, judged.snapshot)))
    settled = ChangeKeptOrReverted(
        step,
        True,
        judged.snapshot,
        changed,
        why=f"put back as at the base: {list_first_names({one.subject for one in judged.put_back}, MAX_NAMED_PUT_BACK)}",
        hunks=moved,
        put_back=paths,
        worked=bool(deeds.changes),
    )
    events = (settled, OutputDigested(facts=(remember_put_back(step, judged),)), *reopen_plan_items(state, deeds))
    return KeepOrRevertResult(True, judged.snapshot, events)


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


def revert_strays(state: State, verdict: Verdict, runtime: Runtime, attempt: str) -> KeepOrRevertResult:
    """These files are as they were at the base again; all else that was done stays. An attempt is remembered, so that it is
    not repeated."""
    paths = verdict.strays
    runtime.workspace.restore(state.workspace.first_snapshot, paths)
    snapshot = runtime.workspace.snapshot()
    changed = tuple(change.path for change in runtime.workspace.changes(state.workspace.first_snapshot, snapshot))
    moved = tuple(hunks_from_changes(runtime.workspace.changes(state.workspace.snapshot, snapshot)))
    why = f"put back as at the base: {', '.join(paths)}"
    failed = Fact(FactKind.FAILED_APPROACH, attempt, f"refused: {verdict.reason}", step=state.work.step + 1)
    settled = ChangeKeptOrReverted(state.work.step + 1, True, snapshot, changed, why=why, hunks=moved)
    return KeepOrRevertResult(True, snapshot, (settled, *([OutputDigested(facts=(failed,))] if attempt else [])))


def describe_intended_strays(strays: Sequence[str], deeds: StepActions) -> str:
    """What a command leaves behind was not tried, it only happened."""
    named = [path for path in strays if any(deed.action.args.get("path") == path for deed in deeds.done)]
    return f"changing {', '.join(named)}" if named else ""
