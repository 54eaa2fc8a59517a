"""After every change: did it break anything?"""

from collections.abc import Sequence
from dataclasses import replace

from afresh.core.archived_block import Block
from afresh.core.progress_event import CheckScope
from afresh.core.recognise_test_files import is_conftest
from afresh.core.state import State
from afresh.core.step_result import StepActions, StepVerification
from afresh.core.task import Check
from afresh.core.verdict import TARGETED_SCOPE_PREFIX, Ruling, Verdict, list_first_names
from afresh.ports.tool import ToolContext
from afresh.runtime import Runtime
from afresh.verification.baseline import NO_CHECKS_REASON
from afresh.verification.check_configuration import is_test_configuration
from afresh.verification.checks import CheckResult, run_check
from afresh.verification.compile_check import check_changed_files_compile
from afresh.verification.completion import verify_completion
from afresh.verification.open_items import name_open_items
from afresh.verification.regressions import (
    BaselineCheck,
    collect_archived_blocks,
    compare_step_run,
    pair_checks_with_baseline,
    verdict_from_comparisons,
)
from afresh.verification.report_document import verify_document
from afresh.verification.runner_reports import narrow_check


def verify_step_or_completion(state: State, deeds: StepActions, runtime: Runtime) -> StepVerification:
    """Checks leave no trace: whatever they wrote into the tree is gone afterwards."""
    if not deeds.complete and not deeds.changes:
        return StepVerification()
    context = runtime.tool_context(replace(state, workspace=replace(state.workspace, snapshot=deeds.snapshot)))
    with runtime.report_check(CheckScope.COMPLETION if deeds.complete else CheckScope.CHANGE):
        if deeds.complete:
            verdict, blocks = verify_completion(context, runtime.workspace)
            verdict = name_open_items(verdict, state, deeds)
        else:
            verdict, blocks = verify_step(context, [change.path for change in deeds.changes])
    runtime.workspace.restore(deeds.snapshot)
    return StepVerification(verdict, blocks)


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
    judgements = [
        compare_step_run(_run_narrowest_check(context, known, check, changed), known)
        for check, known in pair_checks_with_baseline(context)
    ]
    return verdict_from_comparisons(judgements, measure), collect_archived_blocks(judgements)


def _run_narrowest_check(context: ToolContext, known: BaselineCheck, check: Check, changed: Sequence[str]) -> CheckResult:
    """Only the tests of what was changed, where these are known and the run of them is conclusive; else the whole check."""
    tests = _select_target_tests(context, known, changed)
    command = narrow_check(context, check.command, tests) if tests else None
    failing = known.outcomes.failing
    if command is not None:
        ran = run_check(
            context.sandbox, check, narrowed=command, scope=TARGETED_SCOPE_PREFIX + list_first_names(tests, 2), known=failing
        )
        if ran.run.timed_out or ran.outcomes.failing or (ran.run.exit == 0 and ran.outcomes.readable):
            return ran
    return run_check(context.sandbox, check, known=failing)


def _select_target_tests(context: ToolContext, known: BaselineCheck, changed: Sequence[str]) -> list[str]:
    """Test files that the check itself runs: those it ran at the baseline, and new ones."""
    if any(is_conftest(path) or is_test_configuration(path) for path in changed):
        return []
    ran_before = {test.partition("::")[0] for test in known.outcomes.tests}
    names_files = any(path in ran_before for path in context.files.paths())
    tests = context.insight.tests_for(changed, context.files)
    return [path for path in tests if not names_files or path in ran_before or path in changed]
