"""One run of a check held against its run at the baseline."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from afresh.core.archived_block import Block
from afresh.core.task import Check
from afresh.core.verdict import (
    TARGETED_SCOPE_PREFIX,
    Baseline,
    CheckRun,
    EvidenceSource,
    Ruling,
    Verdict,
    format_count,
    list_first_names,
    summarise_check_run,
)
from afresh.outputs.test_reports.outcomes import ERROR, OutcomesByTest
from afresh.ports.tool import ToolContext
from afresh.verification.baseline import load_baseline_outcomes
from afresh.verification.checks import NO_TESTS, CheckResult
from afresh.verification.doubtful_evidence import find_doubt
from afresh.verification.runner_reports import CUT_OUTPUT_MARK

MAX_LOST_TESTS = 20
_UNITTEST_LOAD_ERROR_PREFIX = "unittest.loader._FailedTest."
_FIXTURE_SUFFIXES = (".setUpClass", ".tearDownClass", ".setUpModule", ".tearDownModule")


@dataclass(frozen=True, slots=True)
class BaselineCheck:
    """A check at the baseline."""

    run: CheckRun
    outcomes: OutcomesByTest
    flaky: frozenset[str]
    waived: frozenset[str] = NO_TESTS
    """Tests that the task may change: as they were they decide nothing."""

    @property
    def undecided(self) -> frozenset[str]:
        return self.flaky | self.waived

    @property
    def decides(self) -> bool:
        return self.run.command not in self.flaky

    @property
    def firm(self) -> frozenset[str]:
        """Tests that passed, both times."""
        return self.outcomes.passing - self.undecided


@dataclass(frozen=True, slots=True)
class CheckComparison:
    ran: CheckResult
    problem: str = ""
    regressions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    """Tests that failed, and passed when they were run again."""
    with_base_tests: bool = False
    """The code of the task was run with the tests of the base."""


def compare_step_run(ran: CheckResult, before: BaselineCheck) -> CheckComparison:
    """Did this change break what worked? What never worked is not held against it."""
    if known := _compare_at_once(ran, before):
        return known
    if ran.run.exit and not before.run.exit and not ran.outcomes.failing:
        return CheckComparison(ran, f"`{before.run.command}` exits {ran.run.exit} now, and 0 before")
    return CheckComparison(ran, notes=tuple(_list_notes(ran.outcomes, before)))


def _compare_at_once(ran: CheckResult, before: BaselineCheck) -> CheckComparison | None:
    """What decides whether it is one step or the whole task: a flaky check, a run that can't be read, a test that was lost."""
    if not before.decides:
        return CheckComparison(ran, notes=(f"`{before.run.command}` is flaky and decides nothing",))
    if problem := _describe_unreadable_run(ran, before) or _describe_doubtful_run(ran, before):
        return CheckComparison(ran, problem)
    if lost := find_regressions(ran.outcomes, before):
        return CheckComparison(
            ran,
            f"{format_count(len(lost), 'test')} passed before and {_conjugate_fail(len(lost))} now: {list_first_names(lost)}",
            lost,
        )
    return None


def _conjugate_fail(count: int) -> str:
    return "fails" if count == 1 else "fail"


def _describe_unreadable_run(ran: CheckResult, before: BaselineCheck) -> str:
    """What can be said of a run by its end alone."""
    if ran.run.timed_out:
        return f"`{before.run.command}` timed out and was killed; it ended before"
    if ran.outcomes.readable:
        return ""
    if ran.run.exit and (not before.run.exit or before.outcomes.readable):
        return f"`{before.run.command}` exits {ran.run.exit} and no test result can be read"
    if before.outcomes.readable and not ran.run.exit:
        return f"`{before.run.command}` exits 0, but none of its tests has run"
    return ""


def _describe_doubtful_run(ran: CheckResult, before: BaselineCheck) -> str:
    if _lacks_runner_report(ran, before):
        return (
            f"`{before.run.command}` exits 0 without the report that its test runner wrote before: what it prints proves nothing"
        )
    exits = (before.run.exit, ran.run.exit)
    doubt = find_doubt(before.run.evidence, ran.evidence, exits, before.outcomes.tests.keys())
    return f"`{before.run.command}` {doubt}" if doubt else ""


def _lacks_runner_report(ran: CheckResult, before: BaselineCheck) -> bool:
    """Whether a whole run that exits 0 left no report, though the one at the baseline did. A run of some tests may leave none."""
    is_whole = not ran.run.scope.startswith(TARGETED_SCOPE_PREFIX)
    sources = (before.run.evidence.source, ran.evidence.source)
    return is_whole and not ran.run.exit and sources[0] is EvidenceSource.RUNNER and sources[1] is not EvidenceSource.RUNNER


def find_regressions(now: OutcomesByTest, before: BaselineCheck) -> tuple[str, ...]:
    """Tests that passed and now fail, and files or classes with such tests that can't even be loaded."""
    lost = set(now.failing & before.firm)
    for test in now.failing - before.outcomes.tests.keys():
        hidden = hidden_prefix_from_error(test) or f"{test} "
        if now.tests[test] == ERROR and any(one.startswith(hidden) and one not in now.tests for one in before.firm):
            lost.add(test)
    if before.outcomes.readable and not before.outcomes.named and not before.run.exit:
        lost |= now.failing - before.flaky
    return tuple(sorted(lost))


def hidden_prefix_from_error(error: str) -> str:
    """The beginning of the names of all tests that this error keeps from running."""
    if error.startswith(_UNITTEST_LOAD_ERROR_PREFIX):
        return error.removeprefix(_UNITTEST_LOAD_ERROR_PREFIX) + "."
    for fixture in _FIXTURE_SUFFIXES:
        if error.endswith(fixture):
            return error.removesuffix(fixture) + "."
    return "" if "::" in error else error.rstrip("/")


def _list_notes(now: OutcomesByTest, before: BaselineCheck) -> list[str]:
    old = now.failing & before.outcomes.failing - before.flaky
    new = now.failing - before.outcomes.tests.keys() - before.flaky
    flaky, waived = now.failing & before.flaky, now.failing & before.waived - before.flaky
    notes: list[str] = []
    if old:
        notes.append(f"{format_count(len(old), 'test')} failed already before: {list_first_names(old)}")
    if new:
        notes.append(f"{format_count(len(new), 'new test')} {_conjugate_fail(len(new))}: {list_first_names(new)}")
    if flaky:
        notes.append(f"flaky, deciding nothing: {list_first_names(flaky)}")
    if waived:
        told = f"{format_count(len(waived), 'test')} that the task may change {_conjugate_fail(len(waived))}"
        notes.append(f"{told}: {list_first_names(waived)}")
    return notes


def compare_final_run(ran: CheckResult, before: BaselineCheck, waived: frozenset[str] = NO_TESTS) -> CheckComparison:
    """Does the whole check hold, and does every test that passed still run and pass? `waived` tests may be gone."""
    if known := _compare_at_once(ran, before):
        return known
    gone = _drop_renamed_cases(find_missing_tests(_assume_all_named(ran), before) - waived, ran.outcomes, before)
    if gone:
        problem = (
            f"{format_count(len(gone), 'test')} ran before and {'is' if len(gone) == 1 else 'are'} skipped or gone "
            f"now: {list_first_names(gone)}"
        )
        return CheckComparison(ran, problem, tuple(sorted(gone)[:MAX_LOST_TESTS]))
    if problem := _describe_fewer_tests(ran.outcomes, before):
        return CheckComparison(ran, problem)
    return CheckComparison(ran, *_judge_exit_code(ran, before))


def _drop_renamed_cases(gone: frozenset[str], now: OutcomesByTest, before: BaselineCheck) -> frozenset[str]:
    """Without cases of tests that have as many as before: the values of a case are in its name. Whether they may change is asked
    where the test file is compared."""
    cases = [Counter(test.partition("[")[0] for test in ran.passing | ran.failing) for ran in (before.outcomes, now)]
    fewer = {name for name, count in cases[0].items() if cases[1][name] < count}
    return frozenset(test for test in gone if "[" not in test or test.partition("[")[0] in fewer)


def _assume_all_named(ran: CheckResult) -> OutcomesByTest:
    """The outcomes, where a test that a whole output does not name has not run. Of an output that was cut this is not known."""
    is_cut = any(CUT_OUTPUT_MARK in block.text for block in ran.blocks[:1])
    return ran.outcomes if is_cut or not ran.outcomes.readable else replace(ran.outcomes, named=True)


def _describe_fewer_tests(now: OutcomesByTest, before: BaselineCheck) -> str:
    """Where tests are not all known by name (an output of megabytes is cut), a missing one still shows in the count."""
    if before.outcomes.named and now.named:
        return ""
    least = before.outcomes.passed - len(before.outcomes.passing & before.flaky)
    return f"{least} tests passed before, only {now.passed} now" if now.passed < least else ""


def compare_run_with_base_tests(ran: CheckResult, before: BaselineCheck) -> CheckComparison:
    """Do the base's own tests hold? New tests may lack what was put back for this run, and are judged in the next."""
    if not before.decides or not before.outcomes.named:
        return CheckComparison(ran)
    judgement = compare_final_run(ran, before)
    failing = ran.outcomes.failing & before.outcomes.tests.keys() - before.undecided
    return judgement if judgement.regressions or failing or not ran.outcomes.readable else CheckComparison(ran)


def find_missing_tests(now: OutcomesByTest, before: BaselineCheck) -> frozenset[str]:
    """Tests that ran at the base and are deselected, skipped or deleted now, whatever they said."""
    if not before.outcomes.named or not now.named:
        return frozenset()
    failed = frozenset(test for test in before.outcomes.failing - before.flaky if not hidden_prefix_from_error(test))
    return (before.firm | failed) - before.waived - now.passing - now.failing


def _judge_exit_code(ran: CheckResult, before: BaselineCheck) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    if ran.run.exit == 0:
        return _describe_hidden_failures(ran, before), (), ()
    failing = ran.outcomes.failing
    if failing and failing <= before.flaky:
        return "", (), (f"flaky, deciding nothing: {list_first_names(failing)}",)
    old = failing & before.outcomes.failing - before.flaky
    new = failing - old - before.flaky
    parts = [f"{format_count(len(new), 'test')} {_conjugate_fail(len(new))}: {list_first_names(new)}"] if new else []
    if old:
        parts.append(
            f"{format_count(len(old), 'test')} failed before the task began and still {_conjugate_fail(len(old))}: "
            f"{list_first_names(old)}"
        )
    return f"`{before.run.command}` exits {ran.run.exit}: " + ("; ".join(parts) or "it must exit 0"), (), ()


def _describe_hidden_failures(ran: CheckResult, before: BaselineCheck) -> str:
    """Failing tests of a command that exits 0, unless it did so at the baseline, too."""
    failing = ran.outcomes.failing - before.undecided
    if not failing or (before.outcomes.failing and not before.run.exit):
        return ""
    told = f"{format_count(len(failing), 'test')} {_conjugate_fail(len(failing))}"
    return f"`{before.run.command}` exits 0, though {told}: {list_first_names(failing)}"


def pair_checks_with_baseline(context: ToolContext, seen: Iterable[str] = ()) -> list[tuple[Check, BaselineCheck]]:
    """Each check with what is known of it from the baseline; `seen`: tests that were found to be flaky since."""
    baseline = context.state.verification.baseline or Baseline()
    flaky = frozenset((*baseline.flaky, *seen))
    pairs = zip(context.state.task.checks, baseline.runs, strict=True)
    return [(check, BaselineCheck(run, load_baseline_outcomes(context.store, run), flaky)) for check, run in pairs]


def select_conclusive_checks(context: ToolContext) -> list[Check]:
    """Checks that said something at the base: one that could not even start may be for the task to make."""
    return [check for check, known in pair_checks_with_baseline(context) if known.run.exit == 0 or known.outcomes.readable]


def waive_tests(before: BaselineCheck, is_waived: Callable[[str], bool]) -> BaselineCheck:
    """The check, with these tests deciding nothing."""
    waived = frozenset(test for test in before.outcomes.tests if is_waived(test))
    return replace(before, waived=before.waived | waived) if waived else before


def verdict_from_comparisons(judgements: Sequence[CheckComparison], measure: int, prefix: str = "") -> Verdict:
    """One verdict of many judgements. It names first the checks as the user runs them, then those with the base's tests."""
    problems = [judgement.problem for judgement in judgements if judgement.problem]
    lost = dict.fromkeys(test for judgement in judgements for test in judgement.regressions)
    notes = dict.fromkeys(note for judgement in judgements for note in judgement.notes)
    runs = tuple(judgement.ran.run for judgement in judgements)
    told = sorted(judgements, key=lambda judgement: judgement.with_base_tests)
    said = problems or [prefix + "; ".join(_summarise_comparison(judgement) for judgement in told)]
    flaky = dict.fromkeys(test for judgement in judgements for test in judgement.flaky)
    ruling = Ruling.FAIL if problems else Ruling.PASS
    return Verdict(ruling, "; ".join([*said, *notes]), runs, tuple(lost), measure=measure, flaky=tuple(flaky))


def _summarise_comparison(judgement: CheckComparison) -> str:
    """The run in a line. If it is accepted, those of the base's tests that fail are the ones that may change."""
    expected = judgement.with_base_tests and judgement.ran.run.failed and not judgement.problem
    return summarise_check_run(judgement.ran.run) + (" (these may fail: the task changed them)" if expected else "")


def collect_archived_blocks(judgements: Iterable[CheckComparison]) -> tuple[Block, ...]:
    return tuple(block for judgement in judgements for block in judgement.ran.blocks)
