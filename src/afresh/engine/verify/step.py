"""After every change: did it break anything?"""

from collections.abc import Iterable, Sequence

from afresh.domain.fact import Block
from afresh.domain.paths import is_conftest
from afresh.domain.task import Check
from afresh.domain.verdict import TARGETED, Baseline, Ruling, Verdict
from afresh.engine.verify.baseline import NO_CHECKS, before
from afresh.engine.verify.command import narrowed
from afresh.engine.verify.compare import Before, Judgement, judge_step
from afresh.engine.verify.compiling import uncompilable
from afresh.engine.verify.configuration import configures_tests
from afresh.engine.verify.report import judge_report
from afresh.engine.verify.run import Ran, run_check
from afresh.engine.verify.summary import listed, summary
from afresh.ports import Bench


def verify_step(bench: Bench, changed: Sequence[str]) -> tuple[Verdict, tuple[Block, ...]]:
    """PASS when nothing that worked is broken. It says nothing of the task being done: `grade` does."""
    measure = bench.insight.measure(bench.state, bench.files)
    if not changed:
        return Verdict(Ruling.PASS, "nothing was changed: nothing was run", measure=measure), ()
    if bench.state.task.report:
        return judge_report(bench, changed), ()
    if broken := uncompilable(bench, changed):
        reason = "does not compile: " + "; ".join(failure.message for failure in broken.failures)
        return Verdict(Ruling.FAIL, reason, (broken,), measure=measure), ()
    if not bench.state.task.checks:
        return Verdict(Ruling.BLOCKED, NO_CHECKS, measure=measure), ()
    judgements = [judge_step(_run(bench, known, check, changed), known) for check, known in checks_before(bench)]
    return joined(judgements, measure), archived(judgements)


def checks_before(bench: Bench) -> list[tuple[Check, Before]]:
    """Each check with what is known of it from the baseline."""
    baseline = bench.state.baseline or Baseline()
    flaky = frozenset(baseline.flaky)
    pairs = zip(bench.state.task.checks, baseline.runs, strict=True)
    return [(check, Before(run, before(bench.store, run), flaky)) for check, run in pairs]


def _run(bench: Bench, known: Before, check: Check, changed: Sequence[str]) -> Ran:
    """Only the tests of what was changed, where these are known and the run of them is conclusive; else the whole check."""
    tests = _targets(bench, known, changed)
    command = narrowed(check.command, tests) if tests else None
    failing = known.outcomes.failing
    if command is not None:
        ran = run_check(bench.sandbox, check, narrowed=command, scope=TARGETED + listed(tests, 2), known=failing)
        if ran.run.timed_out or ran.outcomes.failing or (ran.run.exit == 0 and ran.outcomes.readable):
            return ran
    return run_check(bench.sandbox, check, known=failing)


def _targets(bench: Bench, known: Before, changed: Sequence[str]) -> list[str]:
    """Test files that the check itself runs: those it ran at the baseline, and new ones."""
    if any(is_conftest(path) or configures_tests(path) for path in changed):
        return []
    ran_before = {test.partition("::")[0] for test in known.outcomes.tests}
    return [path for path in bench.insight.tests_for(changed, bench.files) if path in ran_before or path in changed]


def joined(judgements: Sequence[Judgement], measure: int, prefix: str = "") -> Verdict:
    """One verdict of many judgements."""
    problems = [judgement.problem for judgement in judgements if judgement.problem]
    lost = dict.fromkeys(test for judgement in judgements for test in judgement.regressions)
    notes = dict.fromkeys(note for judgement in judgements for note in judgement.notes)
    runs = tuple(judgement.ran.run for judgement in judgements)
    said = problems or [prefix + "; ".join(summary(run) for run in runs)]
    return Verdict(Ruling.FAIL if problems else Ruling.PASS, "; ".join([*said, *notes]), runs, tuple(lost), measure=measure)


def archived(judgements: Iterable[Judgement]) -> tuple[Block, ...]:
    return tuple(block for judgement in judgements for block in judgement.ran.blocks)
