"""After every change: did it break anything?"""

from collections.abc import Sequence
from dataclasses import replace

from afresh.core.archived_block import Block
from afresh.core.event import VerdictReached
from afresh.core.progress_event import CheckScope
from afresh.core.recognise_test_files import is_code_file, is_conftest, is_protected_path
from afresh.core.state import State
from afresh.core.step_result import StepResult
from afresh.core.task import Check
from afresh.core.verdict import TARGETED_SCOPE_PREFIX, NoteKind, Ruling, Verdict, VerdictNote, join_first_names
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import Workspace, read_text
from afresh.runtime import Runtime
from afresh.verification.baseline import NO_CHECKS_REASON
from afresh.verification.checks import CheckResult, run_check
from afresh.verification.compile_check import check_changed_files_compile
from afresh.verification.completion import verify_completion
from afresh.verification.confirm_regressions import confirm_step_regressions
from afresh.verification.court import find_court_changes
from afresh.verification.manifest_settings import is_manifest
from afresh.verification.network_use import note_open_items_and_network
from afresh.verification.permission import LeaveJudgement, is_allowed_test, judge_leave
from afresh.verification.project_linters import find_new_findings
from afresh.verification.regressions import (
    BaselineCheck,
    CheckComparison,
    collect_archived_blocks,
    compare_step_run,
    pair_checks_with_baseline,
    verdict_from_comparisons,
    waive_tests,
)
from afresh.verification.report_document import verify_document
from afresh.verification.reviewer import review_changes
from afresh.verification.runner_reports import narrow_check


def verify_step_or_completion(state: State, deeds: StepResult, runtime: Runtime) -> tuple[State, StepResult]:
    """Checks leave no trace: whatever they wrote into the tree is gone afterwards. The state has what a reviewer said."""
    if not deeds.changes and (not deeds.complete or is_answer_alone(state, deeds)):
        return state, deeds
    with runtime.report_check(CheckScope.COMPLETION if deeds.complete else CheckScope.CHANGE):
        state, verified = (
            _verify_claim(state, deeds, runtime) if deeds.complete else (state, _verify_change(state, deeds, runtime))
        )
    runtime.workspace.restore(deeds.snapshot)
    return state, verified


def open_context(state: State, deeds: StepResult, runtime: Runtime) -> ToolContext:
    return runtime.tool_context(replace(state, workspace=replace(state.workspace, snapshot=deeds.snapshot)))


def is_answer_alone(state: State, deeds: StepResult) -> bool:
    """A turn of a conversation that ends with the tree as the task found it, or as it was verified: nothing is to be checked."""
    known = state.verification
    sound = bool(known.verdict and known.verdict.final and known.verdict.ruling in (Ruling.PASS, Ruling.ACCEPTED))
    stands = sound and not known.is_undone and state.workspace.last_change <= known.verdict_step
    return bool(state.dialogue.turn) and (stands or deeds.snapshot == state.workspace.first_snapshot)


def _verify_change(state: State, deeds: StepResult, runtime: Runtime) -> StepResult:
    """Checks of a step only help the model; what will need leave is named in a line."""
    context, changed = open_context(state, deeds, runtime), [change.path for change in deeds.changes]
    verdict, blocks = verify_step(context, changed, runtime.workspace, state.workspace.snapshot)
    judges = any(is_protected_path(path) or not is_code_file(path) for path in changed)
    if verdict.ruling is not Ruling.PASS or state.task.report or not state.task.checks or not judges:
        return add_verdict(state, deeds, verdict, blocks)
    judged = judge_leave(context, find_court_changes(context, runtime.workspace))
    missing = dict.fromkeys(one.told for one in judged.missing if one.path in changed)
    return add_verdict(state, deeds, verdict.add_note(NoteKind.NEEDS_WORDS, missing), blocks)


def _verify_claim(state: State, deeds: StepResult, runtime: Runtime) -> tuple[State, StepResult]:
    """A reviewer is asked about what nobody has allowed; about what has only grown if the work does not pass without it."""
    context = open_context(state, deeds, runtime)
    court = find_court_changes(context, runtime.workspace)
    state = review_changes(state, judge_leave(context, court).missing, runtime)
    context = open_context(state, deeds, runtime)
    verdict, blocks = verify_completion(context, runtime.workspace, court)
    judged = judge_leave(context, court) if verdict.unallowed else LeaveJudgement()
    missing = judged.missing or judged.soft
    if not judged.missing and (after := review_changes(state, judged.soft, runtime)) is not state:
        state = after
        verdict, blocks = verify_completion(open_context(state, deeds, runtime), runtime.workspace, court)
    verdict = note_open_items_and_network(verdict, state, deeds)
    step = add_verdict(state, deeds, verdict, blocks)
    return state, replace(step, missing=missing) if verdict.unallowed else step


def add_verdict(state: State, step: StepResult, verdict: Verdict, blocks: tuple[Block, ...]) -> StepResult:
    return replace(step.add(VerdictReached(state.work.step + 1, verdict), blocks=blocks), verdict=verdict)


def verify_step(
    context: ToolContext, changed: Sequence[str], workspace: Workspace, before: str
) -> tuple[Verdict, tuple[Block, ...]]:
    """PASS when nothing that worked is broken in the tree since the snapshot `before`. `verify_completion` says whether the task
    is done."""
    measure = context.insight.measure(context.state, context.files)
    if not changed:
        return Verdict(Ruling.PASS, "nothing was changed: nothing was run", measure=measure), ()
    if context.state.task.report:
        return verify_document(context, changed), ()
    if broken := check_changed_files_compile(context, changed):
        reason = "does not compile: " + "; ".join(failure.message for failure in broken.failures)
        return Verdict(Ruling.FAIL, reason, (broken,), measure=measure), ()
    if not context.state.task.checks:
        return Verdict(Ruling.BLOCKED, NO_CHECKS_REASON, measure=measure), ()
    if worse := find_new_findings(context, measure):
        return worse
    pairs = _pair_checks_for_step(context)
    judgements = [_judge_check(context, check, known, changed, workspace, before) for check, known in pairs]
    return verdict_from_comparisons(judgements, measure), collect_archived_blocks(judgements)


def _pair_checks_for_step(context: ToolContext) -> list[tuple[Check, BaselineCheck]]:
    """Tests that were found to be flaky, and those that the task may change, undo no step; completion asks again."""
    known = context.state.verification
    pairs = pair_checks_with_baseline(context, known.flaky)
    return [(check, waive_tests(before, lambda test: is_allowed_test(test, known.leave))) for check, before in pairs]


def _judge_check(
    context: ToolContext, check: Check, known: BaselineCheck, changed: Sequence[str], workspace: Workspace, before: str
) -> CheckComparison:
    """By the tests of what was changed, where these are known and their run is conclusive; else by the whole check. What fails in
    them alone without the change, too, is no fault of it: from then on the check runs whole."""
    tests = _select_target_tests(context, known, changed)
    ran, note = _run_target_tests(context, known, check, tests), list[VerdictNote]()
    if ran is not None:
        comparison = confirm_step_regressions(context, check, ran, known, compare_step_run)
        if not comparison.regressions or not _fail_without_change(context, known, check, tests, comparison, workspace, before):
            return comparison
        note = [VerdictNote(NoteKind.RUNS_WHOLE, (check.command,))]
    ran = run_check(context.sandbox, check, known=known.red)
    comparison = confirm_step_regressions(context, check, ran, known, compare_step_run)
    return replace(comparison, notes=(*comparison.notes, *note))


def _run_target_tests(context: ToolContext, known: BaselineCheck, check: Check, tests: Sequence[str]) -> CheckResult | None:
    command = narrow_check(context, check.command, tests) if tests else None
    if command is None:
        return None
    scope = TARGETED_SCOPE_PREFIX + join_first_names(tests, 2)
    ran = run_check(context.sandbox, check, narrowed=command, scope=scope, known=known.red)
    conclusive = ran.run.timed_out or ran.outcomes.failing or (ran.run.exit == 0 and ran.outcomes.readable)
    return ran if conclusive else None


def _fail_without_change(
    context: ToolContext,
    known: BaselineCheck,
    check: Check,
    tests: Sequence[str],
    comparison: CheckComparison,
    workspace: Workspace,
    before: str,
) -> bool:
    """Whether a test that these files lost fails in them in the tree before the change, too; the tree is left as it was found."""
    after = workspace.snapshot()
    try:
        workspace.restore(before)
        there = [path for path in tests if read_text(context.files, path) is not None]
        ran = _run_target_tests(context, known, check, there)
        return ran is not None and bool(ran.outcomes.failing & frozenset(comparison.regressions))
    finally:
        workspace.restore(after)


def _select_target_tests(context: ToolContext, known: BaselineCheck, changed: Sequence[str]) -> list[str]:
    """Test files that the check itself runs: those it ran at the baseline, and those that the task made or changed, which come
    first."""
    if known.run.command in context.state.verification.run_whole:
        return []
    if any(is_conftest(path) or is_manifest(path) or path.endswith((".ini", ".toml", ".cfg")) for path in changed):
        return []
    ran_before = {test.partition("::")[0] for test in known.outcomes.tests}
    names_files = any(path in ran_before for path in context.files.paths())
    own = {*context.state.workspace.changed, *changed}
    tests = sorted(context.insight.tests_for(changed, context.files), key=lambda path: path not in own)
    return [path for path in tests if not names_files or path in ran_before or path in own]
