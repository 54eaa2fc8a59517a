"""After every change: did it break anything?"""

from collections.abc import Sequence
from dataclasses import replace

from afresh.core.archived_block import Block
from afresh.core.licences.licence_for_tests import LicenceWidened, Weakening, WeakeningWay, add_licences
from afresh.core.progress_event import CheckScope
from afresh.core.recognise_test_files import is_conftest
from afresh.core.state import State
from afresh.core.step_result import StepActions, StepVerification
from afresh.core.task import Check
from afresh.core.verdict import TARGETED_SCOPE_PREFIX, Ruling, Verdict, join_first_names, list_first_names
from afresh.policy.licence_record import widen_licence
from afresh.ports.tool import ToolContext
from afresh.runtime import Runtime
from afresh.verification.baseline import NO_CHECKS_REASON
from afresh.verification.check_configuration import is_check_configuration, is_test_configuration
from afresh.verification.checks import CheckResult, run_check
from afresh.verification.compile_check import check_changed_files_compile
from afresh.verification.completion import verify_completion
from afresh.verification.confirm_regressions import confirm_step_regressions
from afresh.verification.judge_test_changes import (
    HOW_TO_GET_A_LICENCE,
    NO_TEST_CHANGES,
    ChangedTests,
    is_licensed_test,
    judge_test_changes,
    put_back_changes,
)
from afresh.verification.network_use import name_network_use
from afresh.verification.open_items import name_open_items
from afresh.verification.project_linters import find_new_findings
from afresh.verification.protected_tests import is_protected_path
from afresh.verification.regressions import (
    BaselineCheck,
    collect_archived_blocks,
    compare_step_run,
    pair_checks_with_baseline,
    verdict_from_comparisons,
    waive_tests,
)
from afresh.verification.report_document import verify_document
from afresh.verification.runner_reports import narrow_check


def verify_step_or_completion(state: State, deeds: StepActions, runtime: Runtime) -> StepVerification:
    """Checks leave no trace: whatever they wrote into the tree is gone afterwards."""
    if not deeds.changes and (not deeds.complete or is_answer_alone(state, deeds)):
        return StepVerification()
    context, events = _open_context(state, deeds, runtime)
    with runtime.report_check(CheckScope.COMPLETION if deeds.complete else CheckScope.CHANGE):
        verified = (
            _verify_claim(context, state, deeds, runtime) if deeds.complete else _verify_change(context, state, deeds, runtime)
        )
    runtime.workspace.restore(verified.snapshot or deeds.snapshot)
    return replace(verified, events=events)


def is_answer_alone(state: State, deeds: StepActions) -> bool:
    """A turn of a conversation that ends with the tree as the task found it, or as it was verified: nothing is to be checked."""
    known = state.verification
    sound = bool(known.verdict and known.verdict.final and known.verdict.ruling in (Ruling.PASS, Ruling.ACCEPTED))
    stands = sound and not known.is_undone and state.workspace.last_change <= known.verdict_step
    return bool(state.dialogue.turn) and (stands or deeds.snapshot == state.workspace.first_snapshot)


def _open_context(state: State, deeds: StepActions, runtime: Runtime) -> tuple[ToolContext, tuple[LicenceWidened, ...]]:
    """With the licence as the reply's own claims and the person's last words have widened it; what of that is to be recorded."""
    context = runtime.tool_context(replace(state, workspace=replace(state.workspace, snapshot=deeds.snapshot)))
    if not _bears_on_tests(_list_changed_paths(state, deeds), state.task.checks):
        return context, ()
    events = widen_licence(state, context.files.paths())
    claimed = [event for event in deeds.events if isinstance(event, LicenceWidened)]
    licence = state.verification.licence
    for event in (*claimed, *events):
        licence = add_licences(licence, event.changes)
    widened = replace(context.state, verification=replace(context.state.verification, licence=licence))
    return replace(context, state=widened), events


def _list_changed_paths(state: State, deeds: StepActions) -> list[str]:
    return [*state.workspace.changed, *(change.path for change in deeds.changes)]


def _bears_on_tests(paths: Sequence[str], checks: Sequence[Check]) -> bool:
    return any(is_protected_path(path) or is_check_configuration(path, checks) for path in paths)


def _verify_change(context: ToolContext, state: State, deeds: StepActions, runtime: Runtime) -> StepVerification:
    """Changes of tests without a licence are put back first; the verdict is on the tree as it is then."""
    changed = [change.path for change in deeds.changes]
    judges = bool(state.task.checks) and not state.task.report and _bears_on_tests(changed, state.task.checks)
    sound = judges and not check_changed_files_compile(context, changed)
    judged = judge_test_changes(context, runtime.workspace) if sound else NO_TEST_CHANGES
    if not judged.refused:
        return StepVerification(*verify_step(context, changed))
    whole = put_back_changes(context, runtime.workspace, judged, state.workspace.snapshot)
    snapshot = runtime.workspace.snapshot()
    told = describe_put_back(judged, whole)
    if snapshot == state.workspace.snapshot:
        verdict = Verdict(Ruling.FAIL, f"{told}; nothing else was changed", weakened=judged.paths)
        return StepVerification(verdict, (), snapshot, judged.weakenings)
    verdict, blocks = verify_step(context, changed)
    verdict = replace(verdict, reason=f"{told}; with them as they were: {verdict.reason}", weakened=judged.paths)
    return StepVerification(verdict, blocks, snapshot, judged.weakenings)


def _verify_claim(context: ToolContext, state: State, deeds: StepActions, runtime: Runtime) -> StepVerification:
    verdict, blocks = verify_completion(context, runtime.workspace)
    verdict = name_network_use(name_open_items(verdict, state, deeds), state, deeds)
    if not verdict.weakened:
        return StepVerification(verdict, blocks)
    judged = judge_test_changes(context, runtime.workspace)
    whole = put_back_changes(context, runtime.workspace, judged, state.workspace.first_snapshot)
    planted = [path for path in verdict.weakened if path not in judged.paths]
    if planted:
        runtime.workspace.restore(state.workspace.first_snapshot, planted)
    snapshot = runtime.workspace.snapshot()
    after, blocks = verify_step(context, _list_changed_paths(state, deeds))
    told = [*([verdict.reason] if planted else []), *([describe_put_back(judged, whole)] if judged.refused else [])]
    reason = f"{'; '.join(told)}; with them as they were: {after.reason}"
    refused = replace(verdict, reason=reason, runs=after.runs, regressions=after.regressions, flaky=after.flaky)
    put_back = (*judged.weakenings, *(Weakening(path, WeakeningWay.CONFIGURE, verdict.reason) for path in planted))
    return StepVerification(refused, blocks, snapshot, put_back)


def describe_put_back(judged: ChangedTests, whole: Sequence[str]) -> str:
    """What was put back, and what to do if the task asks for it."""
    files = f" (as whole files: {list_first_names(whole)})" if whole else ""
    return f"tests weakened and put back{files}: {judged.describe_refused()} ({HOW_TO_GET_A_LICENCE})"


def verify_step(context: ToolContext, changed: Sequence[str]) -> tuple[Verdict, tuple[Block, ...]]:
    """PASS when nothing that worked is broken. It says nothing of the task being done: `grade` does."""
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
    return [(check, waive_tests(before, lambda test: is_licensed_test(test, known.licence))) for check, before in pairs]


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
    if any(is_conftest(path) or is_test_configuration(path) for path in changed):
        return []
    ran_before = {test.partition("::")[0] for test in known.outcomes.tests}
    names_files = any(path in ran_before for path in context.files.paths())
    own = {*context.state.workspace.changed, *changed}
    tests = sorted(context.insight.tests_for(changed, context.files), key=lambda path: path not in own)
    return [path for path in tests if not names_files or path in ran_before or path in own]
