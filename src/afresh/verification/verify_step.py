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
from afresh.core.verdict import TARGETED_SCOPE_PREFIX, NoteKind, Ruling, Verdict, join_first_names
from afresh.ports.tool import ToolContext
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
    verdict, blocks = verify_step(context, changed)
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


def verify_step(context: ToolContext, changed: Sequence[str]) -> tuple[Verdict, tuple[Block, ...]]:
    """PASS when nothing that worked is broken. `verify_completion` says whether the task is done."""
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
    judgements = [
        confirm_step_regressions(context, check, _run_narrowest_check(context, known, check, changed), known, compare_step_run)
        for check, known in _pair_checks_for_step(context)
    ]
    return verdict_from_comparisons(judgements, measure), collect_archived_blocks(judgements)


def _pair_checks_for_step(context: ToolContext) -> list[tuple[Check, BaselineCheck]]:
    """Tests that were found to be flaky, and those that the task may change, undo no step; completion asks again."""
    known = context.state.verification
    pairs = pair_checks_with_baseline(context, known.flaky)
    return [(check, waive_tests(before, lambda test: is_allowed_test(test, known.leave))) for check, before in pairs]


def _run_narrowest_check(context: ToolContext, known: BaselineCheck, check: Check, changed: Sequence[str]) -> CheckResult:
    """Only the tests of what was changed, where these are known and the run of them is conclusive; else the whole check."""
    tests = _select_target_tests(context, known, changed)
    command = narrow_check(context, check.command, tests) if tests else None
    if command is not None:
        ran = run_check(
            context.sandbox, check, narrowed=command, scope=TARGETED_SCOPE_PREFIX + join_first_names(tests, 2), known=known.red
        )
        if ran.run.timed_out or ran.outcomes.failing or (ran.run.exit == 0 and ran.outcomes.readable):
            return ran
    return run_check(context.sandbox, check, known=known.red)


def _select_target_tests(context: ToolContext, known: BaselineCheck, changed: Sequence[str]) -> list[str]:
    """Test files that the check itself runs: those it ran at the baseline, and those that the task made or changed, which come
    first."""
    if any(is_conftest(path) or is_manifest(path) or path.endswith((".ini", ".toml", ".cfg")) for path in changed):
        return []
    ran_before = {test.partition("::")[0] for test in known.outcomes.tests}
    names_files = any(path in ran_before for path in context.files.paths())
    own = {*context.state.workspace.changed, *changed}
    tests = sorted(context.insight.tests_for(changed, context.files), key=lambda path: path not in own)
    return [path for path in tests if not names_files or path in ran_before or path in own]
