"""Keep a change, or put the tree back as it was before the step that made things worse."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.core.change import hunks_from_changes
from afresh.core.event import ChangeKeptOrReverted, OutputDigested
from afresh.core.fact import Fact, FactKind
from afresh.core.state import State
from afresh.core.step_result import KeepOrRevertResult, StepActions, StepVerification
from afresh.core.verdict import Verdict
from afresh.memory.failed_approaches import remember_failed_approach, remember_refusal
from afresh.runtime import Runtime


def keep_or_revert(state: State, deeds: StepActions, judged: StepVerification, runtime: Runtime) -> KeepOrRevertResult:
    if judged.regressed:
        return revert_step(state, deeds, judged, runtime)
    settled = keep_changes(state, deeds, judged, runtime)
    if not judged.refused or not judged.verdict or judged.verdict.weakened or judged.verdict.strays:
        return settled
    refused, blocks = remember_refusal(state.work.step + 1, judged)
    return replace(settled, events=(*settled.events, OutputDigested(facts=(refused,))), blocks=blocks)


def keep_changes(state: State, deeds: StepActions, judged: StepVerification, runtime: Runtime) -> KeepOrRevertResult:
    """All of it, or all but the files that must be as they were."""
    if judged.verdict and judged.verdict.weakened:
        return revert_files(state, judged.verdict, runtime, f"weakening {', '.join(judged.verdict.weakened)}")
    if judged.verdict and judged.verdict.strays:
        return revert_files(state, judged.verdict, runtime, describe_intended_strays(judged.verdict.strays, deeds))
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
    return KeepOrRevertResult(True, deeds.snapshot, (settled,))


def revert_step(state: State, deeds: StepActions, judged: StepVerification, runtime: Runtime) -> KeepOrRevertResult:
    """The tree as before the step. What failed is remembered, so that it is not tried again."""
    runtime.workspace.restore(state.workspace.snapshot)
    step, why = state.work.step + 1, judged.verdict.reason if judged.verdict else ""
    failed, blocks = remember_failed_approach(step, deeds, judged)
    reverted = ChangeKeptOrReverted(step, False, state.workspace.snapshot, state.workspace.changed, why=why)
    return KeepOrRevertResult(False, state.workspace.snapshot, (reverted, OutputDigested(facts=(failed,))), blocks)


def revert_files(state: State, verdict: Verdict, runtime: Runtime, attempt: str) -> KeepOrRevertResult:
    """These files are as they were at the base again; all else that was done stays. An attempt is remembered, so that it is
    not repeated."""
    paths = verdict.weakened or verdict.strays
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
