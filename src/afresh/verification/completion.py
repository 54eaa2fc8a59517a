"""At the claim to be finished: is the task done? Only this says so."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.core.archived_block import Block
from afresh.core.change import Change
from afresh.core.leave import ChangedUnit
from afresh.core.recognise_test_files import is_test_file
from afresh.core.task import FIX_VIOLATION_TYPE, WRITE_TESTS_TYPE
from afresh.core.verdict import Baseline, NoteKind, Ruling, Verdict
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import Workspace
from afresh.verification.baseline import find_baseline_blocker
from afresh.verification.compile_check import check_changed_files_compile
from afresh.verification.court import CourtChange
from afresh.verification.court_run import run_in_court
from afresh.verification.new_tests_on_base import add_new_tests_to_verdict
from afresh.verification.nothing_to_offer import add_function_changes
from afresh.verification.permission import LeaveJudgement, judge_leave
from afresh.verification.project_linters import find_new_findings
from afresh.verification.proof import find_unproven_changes
from afresh.verification.regressions import (
    CheckComparison,
    collect_archived_blocks,
    load_baseline_outcomes,
    pair_checks_with_baseline,
    verdict_from_comparisons,
)
from afresh.verification.report_document import verify_document
from afresh.verification.tampering import note_steering_changes, refuse_tampering


def verify_completion(
    context: ToolContext, workspace: Workspace, court: Sequence[CourtChange]
) -> tuple[Verdict, tuple[Block, ...]]:
    """The final verdict on the tree as it stands; the tree is left as it was found. `court`: what the task has changed of it."""
    baseline, task = context.state.verification.baseline or Baseline(), context.state.task
    measure = context.insight.measure(context.state, context.files)
    snapshot = workspace.snapshot()
    changes = workspace.changes(context.state.workspace.first_snapshot, snapshot)
    report = verify_document(context, [change.path for change in changes], final=True) if task.report else None
    if report and (report.ruling is Ruling.FAIL or not task.checks):
        return report, ()
    if refused := refuse_tampering(context, changes, measure):
        return refused, ()
    if reason := find_baseline_blocker(task, baseline):
        return Verdict(Ruling.BLOCKED, reason, final=True, measure=measure), ()
    judged = judge_leave(context, court)
    if early := _refuse_without_run(context, changes, measure):
        return early, ()
    if worse := find_new_findings(context, measure):
        return replace(worse[0], final=True), worse[1]
    try:
        tests = [test for run in baseline.runs for test in load_baseline_outcomes(context.store, run).tests]
        judgements = run_in_court(context, workspace, court, judged.make_leave(changes, tests), judged.paths)
        if (more := judged.take_dropped_imports(judgements)) != judged:
            judged = more
            workspace.restore(snapshot)
            judgements = run_in_court(context, workspace, court, judged.make_leave(changes, tests))
    finally:
        workspace.restore(snapshot)
    if missing := judged.find_missing(judgements):
        return _refuse_missing_leave(judgements, judged, missing, measure), collect_archived_blocks(judgements)
    verdict = _make_final_verdict(context, judgements, changes, measure)
    if verdict.ruling is Ruling.PASS and (why := find_unproven_changes(context, workspace, changes, judged, judgements)):
        verdict = replace(verdict, ruling=Ruling.FAIL, finding=why, notes=())
    added = [one.path for one in judged.soft if one.what == "added"]  # no part in the court's run, and perhaps in later ones
    verdict = verdict.add_note(NoteKind.ALLOWED, judged.describe_allowed()).add_note(NoteKind.ADDED, added)
    verdict, blocks = add_new_tests_to_verdict(context, workspace, changes, judgements, verdict)
    verdict = add_function_changes(verdict, context, workspace)
    return verdict.add_note(NoteKind.DOCUMENT, [report.reason] if report else []), blocks


def _refuse_without_run(context: ToolContext, changes: Sequence[Change], measure: int) -> Verdict | None:
    """What needs no run to be refused."""
    if not changes:
        return Verdict(Ruling.FAIL, "nothing was changed", final=True, measure=measure)
    if broken := check_changed_files_compile(context, [change.path for change in changes]):
        reason = "does not compile: " + "; ".join(failure.message for failure in broken.failures)
        return Verdict(Ruling.FAIL, reason, (broken,), final=True, measure=measure)
    return _refuse_unlowered_count(context, measure)


def _refuse_missing_leave(
    judgements: Sequence[CheckComparison], judged: LeaveJudgement, missing: Sequence[ChangedUnit], measure: int
) -> Verdict:
    """Which changes nobody has allowed, what to do, and whether the work holds without them."""
    without = verdict_from_comparisons([one for one in judgements if one.with_base_tests], measure)
    reason = (
        f"changed without leave: {judged.describe(missing)}. "
        f"Put that back as it was (`read` @changes/{missing[0].path} shows it), or `ask`. "
        f"Without these changes: {without.ruling}: {without.finding}"
    )
    unallowed = tuple(one.subject for one in missing)
    return replace(without, ruling=Ruling.FAIL, finding=reason, final=True, unallowed=unallowed)


def _refuse_unlowered_count(context: ToolContext, measure: int) -> Verdict | None:
    """What a task is to lower must be lower; what its type merely counts may not rise."""
    was = (context.state.verification.baseline or Baseline()).measure
    lowers = context.state.task.judged_as == FIX_VIOLATION_TYPE
    if measure > was or (lowers and measure == was):
        return Verdict(Ruling.FAIL, f"violations were to become fewer: {was} -> {measure}", final=True, measure=measure)
    return None


def _make_final_verdict(
    context: ToolContext, judgements: Sequence[CheckComparison], changes: Sequence[Change], measure: int
) -> Verdict:
    was = (context.state.verification.baseline or Baseline()).measure
    verdict = replace(verdict_from_comparisons(judgements, measure), final=True)
    verdict = note_steering_changes(verdict, changes, context.state)
    writes_tests = context.state.task.judged_as == WRITE_TESTS_TYPE or context.state.task.require_tests
    if verdict.ruling is Ruling.PASS and writes_tests and not _has_new_tests(context, judgements, changes):
        return replace(verdict, ruling=Ruling.FAIL, finding="no new test was written: " + verdict.finding)
    return verdict.add_note(NoteKind.VIOLATIONS, [f"{was} → {measure}"] if was else [])


def _has_new_tests(context: ToolContext, judgements: Sequence[CheckComparison], changes: Sequence[Change]) -> bool:
    """By name where names are known, else by lines added to test files."""
    old = {test for _, before in pair_checks_with_baseline(context) for test in before.outcomes.tests}
    if any(judgement.ran.outcomes.named for judgement in judgements):
        return any(judgement.ran.outcomes.passing - old for judgement in judgements)
    return any(is_test_file(change.path) and change.added for change in changes)
