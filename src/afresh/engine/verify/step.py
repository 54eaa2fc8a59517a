"""After every change: did it break anything?"""

from collections.abc import Iterable, Sequence

from afresh.domain.fact import Block
from afresh.domain.paths import is_conftest
from afresh.domain.task import Check
from afresh.domain.verdict import TARGETED_SCOPE_PREFIX, Baseline, Ruling, Verdict
from afresh.engine.verify.baseline import NO_CHECKS_REASON, load_baseline_outcomes
from afresh.engine.verify.command import narrow_to_tests
from afresh.engine.verify.compare import BaselineCheck, CheckComparison, compare_step_run
from afresh.engine.verify.compiling import check_changed_files_compile
from afresh.engine.verify.configuration import is_test_configuration
from afresh.engine.verify.report import verify_document
from afresh.engine.verify.run import CheckResult, run_check
from afresh.engine.verify.summary import list_first_names, summarise_check_run
from afresh.ports import ToolContext


def verify_step(bench: ToolContext, changed: Sequence[str]) -> tuple[Verdict, tuple[Block, ...]]:
    """PASS when nothing that worked is broken. It says nothing of the task being done: `grade` does."""
    measure = bench.insight.measure(bench.state, bench.files)
    if not changed:
        return Verdict(Ruling.PASS, "nothing was changed: nothing was run", measure=measure), ()
    if bench.state.task.report:
        return verify_document(bench, changed), ()
    if broken := check_changed_files_compile(bench, changed):
        reason = "does not compile: " + "; ".join(failure.message for failure in broken.failures)
        return Verdict(Ruling.FAIL, reason, (broken,), measure=measure), ()
    if not bench.state.task.checks:
        return Verdict(Ruling.BLOCKED, NO_CHECKS_REASON, measure=measure), ()
    judgements = [
        compare_step_run(_run_narrowest_check(bench, known, check, changed), known)
        for check, known in pair_checks_with_baseline(bench)
    ]
    return verdict_from_comparisons(judgements, measure), collect_archived_blocks(judgements)


def pair_checks_with_baseline(bench: ToolContext) -> list[tuple[Check, BaselineCheck]]:
    """Each check with what is known of it from the baseline."""
    baseline = bench.state.baseline or Baseline()
    flaky = frozenset(baseline.flaky)
    pairs = zip(bench.state.task.checks, baseline.runs, strict=True)
    return [(check, BaselineCheck(run, load_baseline_outcomes(bench.store, run), flaky)) for check, run in pairs]


def _run_narrowest_check(bench: ToolContext, known: BaselineCheck, check: Check, changed: Sequence[str]) -> CheckResult:
    """Only the tests of what was changed, where these are known and the run of them is conclusive; else the whole check."""
    tests = _select_target_tests(bench, known, changed)
    command = narrow_to_tests(check.command, tests) if tests else None
    failing = known.outcomes.failing
    if command is not None:
        ran = run_check(
            bench.sandbox, check, narrowed=command, scope=TARGETED_SCOPE_PREFIX + list_first_names(tests, 2), known=failing
        )
        if ran.run.timed_out or ran.outcomes.failing or (ran.run.exit == 0 and ran.outcomes.readable):
            return ran
    return run_check(bench.sandbox, check, known=failing)


def _select_target_tests(bench: ToolContext, known: BaselineCheck, changed: Sequence[str]) -> list[str]:
    """Test files that the check itself runs: those it ran at the baseline, and new ones."""
    if any(is_conftest(path) or is_test_configuration(path) for path in changed):
        return []
    ran_before = {test.partition("::")[0] for test in known.outcomes.tests}
    return [path for path in bench.insight.tests_for(changed, bench.files) if path in ran_before or path in changed]


def verdict_from_comparisons(judgements: Sequence[CheckComparison], measure: int, prefix: str = "") -> Verdict:
    """One verdict of many judgements."""
    problems = [judgement.problem for judgement in judgements if judgement.problem]
    lost = dict.fromkeys(test for judgement in judgements for test in judgement.regressions)
    notes = dict.fromkeys(note for judgement in judgements for note in judgement.notes)
    runs = tuple(judgement.ran.run for judgement in judgements)
    said = problems or [prefix + "; ".join(summarise_check_run(run) for run in runs)]
    return Verdict(Ruling.FAIL if problems else Ruling.PASS, "; ".join([*said, *notes]), runs, tuple(lost), measure=measure)


def collect_archived_blocks(judgements: Iterable[CheckComparison]) -> tuple[Block, ...]:
    return tuple(block for judgement in judgements for block in judgement.ran.blocks)
