"""One run of a check held against its run at the baseline: the one place that says whether its result is acceptable."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from afresh.core.action import FileAccess
from afresh.core.archived_block import Block
from afresh.core.fact import DOTTED_TEST_NAME
from afresh.core.task import FIX_BUG_TYPE, Check, Task
from afresh.core.text import format_count
from afresh.core.verdict import (
    TARGETED_SCOPE_PREFIX,
    Baseline,
    CheckRun,
    EvidenceSource,
    FailedTest,
    NoteKind,
    Ruling,
    Verdict,
    VerdictNote,
    is_named_by_order,
    list_first_names,
    name_test_function,
    summarise_check_run,
)
from afresh.outputs.outcomes import ERROR, OUTCOME_RANK, OutcomesByTest, outcomes_from_json
from afresh.ports.storage import JournalStore
from afresh.ports.tool import ToolContext
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
    required: frozenset[str] = NO_TESTS
    """Tests that must pass though they failed: the order names them, or the task has changed them."""
    files: FileAccess | None = None
    """What it opened and wrote, where that is known."""

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

    @property
    def red(self) -> frozenset[str]:
        """Tests that failed, both times, and may go on failing. An error that hides tests, as one at import, is none."""
        failing = self.outcomes.failing - self.undecided - self.required
        return frozenset(test for test in failing if not hides_tests(test, self.outcomes.tests[test]))

    @property
    def unstable(self) -> frozenset[str]:
        """Test functions whose cases have other names in each run, such as `<object at 0x7f…>`: they are counted."""
        return frozenset(name_test_function(test) for test in self.flaky - self.outcomes.tests.keys() if "[" in test)

    def drop_unstable(self, tests: Iterable[str]) -> frozenset[str]:
        """Without cases whose names are of one run only."""
        return frozenset(test for test in tests if name_test_function(test) not in self.unstable)

    def name_red_tests(self, now: OutcomesByTest) -> frozenset[str]:
        """Those of the red tests, and of the functions with unstable cases, that fail now."""
        cases = {name_test_function(test) for test in now.failing if "[" in test} & self.unstable
        return (now.failing & self.red) | {f"{name}[…]" for name in cases}


@dataclass(frozen=True, slots=True)
class CheckComparison:
    ran: CheckResult
    problem: str = ""
    regressions: tuple[str, ...] = ()
    notes: tuple[VerdictNote, ...] = ()
    with_base_tests: bool = False
    """The code of the task was run with the tests of the base."""
    still_failing: frozenset[str] = NO_TESTS
    """Tests that failed before the task, too."""


def compare_step_run(ran: CheckResult, before: BaselineCheck) -> CheckComparison:
    """Did this change break what worked? What never worked is not held against it."""
    if known := _compare_at_once(ran, before):
        return known
    if ran.run.exit and not before.run.exit and not ran.outcomes.failing:
        return CheckComparison(ran, f"`{before.run.command}` exits {ran.run.exit} now, and 0 before")
    return _add_red_tests(CheckComparison(ran, notes=tuple(_list_notes(ran.outcomes, before))), before)


def _compare_at_once(ran: CheckResult, before: BaselineCheck) -> CheckComparison | None:
    """What decides whether it is one step or the whole task: a flaky check, a run that can't be read, a test that was lost."""
    if not before.decides:
        return CheckComparison(ran, notes=(VerdictNote(NoteKind.FLAKY_CHECK, (before.run.command,)),))
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


def _list_notes(now: OutcomesByTest, before: BaselineCheck) -> list[VerdictNote]:
    about = {
        NoteKind.NAMED_FAILS: now.failing & before.required,
        NoteKind.NEW_FAILS: now.failing - before.outcomes.tests.keys() - before.flaky,
        NoteKind.UNDECIDED: now.failing & before.flaky,
        NoteKind.WAIVED_FAILS: now.failing & before.waived - before.flaky,
    }
    return [VerdictNote(kind, tuple(sorted(tests))) for kind, tests in about.items() if tests]


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
    if problem := _describe_fewer_tests(ran.outcomes, before) or _describe_fewer_cases(ran.outcomes, before):
        return CheckComparison(ran, problem)
    problem, lost, notes = _judge_exit_code(ran, before)
    if library := set(ran.evidence.library) - set(before.run.evidence.library):
        notes = (*notes, VerdictNote(NoteKind.LIBRARY, tuple(sorted(library))))
    return _add_red_tests(CheckComparison(ran, problem, lost, notes), before)


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


def _describe_fewer_cases(now: OutcomesByTest, before: BaselineCheck) -> str:
    was, runs = (Counter(map(name_test_function, (*ran.passing, *ran.failing))) for ran in (before.outcomes, now))
    fewer = [name for name in before.unstable if runs[name] < was[name]]
    return f"fewer cases run than before: {list_first_names(fewer)}" if fewer and now.named else ""


def find_missing_tests(now: OutcomesByTest, before: BaselineCheck) -> frozenset[str]:
    """Tests that ran at the base and are deselected, skipped or deleted now, whatever they said."""
    if not before.outcomes.named or not now.named:
        return frozenset()
    failing = before.outcomes.failing - before.flaky
    failed = frozenset(test for test in failing if not hides_tests(test, before.outcomes.tests[test]))
    return (before.firm | failed) - before.waived - now.passing - now.failing


def _judge_exit_code(ran: CheckResult, before: BaselineCheck) -> tuple[str, tuple[str, ...], tuple[VerdictNote, ...]]:
    if ran.run.exit == 0:
        return _describe_hidden_failures(ran, before), (), ()
    failing = ran.outcomes.failing
    undecided = failing & before.flaky
    note = (VerdictNote(NoteKind.UNDECIDED, tuple(sorted(undecided))),) if undecided else ()
    if failing and failing <= before.undecided:
        return "", (), note
    new = find_new_failures(ran.outcomes, before)
    why = "" if new else _find_unexplained_exit(ran, before)
    if not new and not why:
        return "", (), note
    named = new & before.required
    new -= named
    parts = [f"{format_count(len(new), 'test')} {_conjugate_fail(len(new))}: {list_first_names(new)}"] if new else []
    if named:
        told = f"{format_count(len(named), 'test')} that the task names or changes still {_conjugate_fail(len(named))}"
        parts.append(f"{told}: {list_first_names(named)}")
    return f"`{before.run.command}` exits {ran.run.exit}: " + "; ".join([*parts, *([why] if why else [])]), (), ()


def find_new_failures(now: OutcomesByTest, before: BaselineCheck) -> frozenset[str]:
    """Tests that fail and are not excused: an old failure is, if it has become no worse. Cases whose names differ from run to run
    are counted."""
    excused = frozenset(
        test for test in now.failing & before.red if OUTCOME_RANK[now.tests[test]] <= OUTCOME_RANK[before.outcomes.tests[test]]
    )
    new = now.failing - excused - before.undecided
    unstable = before.unstable
    was, fails = (Counter(map(name_test_function, ran.failing)) for ran in (before.outcomes, now))
    return frozenset(
        test for test in new if (name := name_test_function(test)) not in unstable or "[" not in test or fails[name] > was[name]
    )


def _find_unexplained_exit(ran: CheckResult, before: BaselineCheck) -> str:
    """Why a run that fails is more than tests that failed before; empty if these explain it. A run that was broken off, by an
    option or by a crash, has not shown that what passed still passes."""
    failing, now, was = ran.outcomes.failing, ran.run.exit, before.run.exit
    if not failing:
        return f"{'no test failed' if ran.outcomes.readable else 'no test result can be read'}, so it must exit 0"
    if ran.evidence.unfinished:
        return f"it stops before all tests have run, so it must exit 0: {list_first_names(ran.evidence.unfinished)} did not run"
    if ran.outcomes.failed > max(len(failing), before.outcomes.failed):
        return f"{ran.outcomes.failed} tests fail, and only {len(failing)} can be named"
    same = now in (was, len(failing)) and ran.evidence.exit == before.run.evidence.exit  # mocha exits with their number
    return "" if same else f"before the task it exited {was}, with the same failures"


def _add_red_tests(judged: CheckComparison, before: BaselineCheck) -> CheckComparison:
    """With the tests that failed before and still fail; and whether the run fails by these alone."""
    ran, new = judged.ran, find_new_failures(judged.ran.outcomes, before)
    red, alone = before.name_red_tests(ran.outcomes) - new, not new and not _find_unexplained_exit(ran, before)
    failures = tuple(replace(failure, failed_before=failure.test in red) for failure in ran.run.failures)
    run = replace(ran.run, failures=failures, red_as_before=bool(ran.run.exit) and alone)
    otherwise = [failure.test for failure in ran.run.failures if failure.test in red and _fails_otherwise(failure, before.run)]
    note = (VerdictNote(NoteKind.OTHERWISE, tuple(otherwise)),) if otherwise else ()
    return replace(judged, ran=replace(ran, run=run), still_failing=red, notes=(*judged.notes, *note))


def _fails_otherwise(now: FailedTest, before: CheckRun) -> bool:
    """Whether a test fails with another message, or in another statement of its file: what passed in it may have broken. Where in
    the file that stands says nothing: tests are added above it."""
    was = next((failure for failure in before.failures if failure.test == now.test), now)
    place = re.compile(rf"{re.escape(now.test.partition('::')[0])}(?::|\", line )\d+.* in .*\n\s*(.*)")
    said = [(re.sub(r"\d+", "", one.message), place.findall(one.detail)) for one in (was, now)]
    return said[0] != said[1]


def hides_tests(test: str, outcome: str) -> bool:
    """Whether an error stands for a file, class or module whose tests could not run."""
    if test.startswith(_UNITTEST_LOAD_ERROR_PREFIX) or test.endswith(_FIXTURE_SUFFIXES):
        return True
    return outcome == ERROR and "::" not in test and not DOTTED_TEST_NAME.match(test)


def _describe_hidden_failures(ran: CheckResult, before: BaselineCheck) -> str:
    """Failing tests of a command that exits 0, unless it did so at the baseline, too."""
    failing = ran.outcomes.failing - before.undecided
    if not failing or (before.outcomes.failing and not before.run.exit):
        return ""
    told = f"{format_count(len(failing), 'test')} {_conjugate_fail(len(failing))}"
    return f"`{before.run.command}` exits 0, though {told}: {list_first_names(failing)}"


def load_baseline_outcomes(store: JournalStore, run: CheckRun) -> OutcomesByTest:
    """What was known of each test at the baseline."""
    tests = outcomes_from_json(store.read(run.tests)) if run.tests else {}
    known = OutcomesByTest(tests)
    return OutcomesByTest(tests, run.passed, run.failed, run.skipped, bool(tests) and len(known.passing) >= run.passed)


def load_baseline_files(store: JournalStore, run: CheckRun) -> FileAccess | None:
    """What the check opened and wrote at the baseline; None where that is not known."""
    if not run.files:
        return None
    held = json.loads(store.read(run.files))
    return FileAccess(frozenset(held["opened"]), frozenset(held["written"]))


def judge_baseline_run(ran: CheckResult, flaky: frozenset[str], task: Task) -> tuple[CheckRun, str]:
    """A run before the task, held against itself: with its failures marked, and what is to be said of them at the start."""
    before = _require_named_tests(BaselineCheck(replace(ran.run, evidence=ran.evidence), ran.outcomes, flaky), task.goal)
    if not before.decides or not ran.run.exit:
        return ran.run, ""
    judged, name = compare_final_run(ran, before), f"`{ran.run.command}`"
    last = "; ".join(failure.message for failure in ran.run.failures)
    problem = judged.problem if ran.outcomes.readable else f"of {name} no test result can be read ({last})"
    if problem:
        return judged.ran.run, f"{problem}. It must exit 0 in the end, whatever failed before; `--check` gives another command"
    red, terms = before.name_red_tests(ran.outcomes), "may go on failing"
    if task.judged_as == FIX_BUG_TYPE:
        terms = "may go on failing if one of them passes in the end, or a new test that fails without the change"
    fail = f"{format_count(len(red), 'test')} {_conjugate_fail(len(red))} already"
    return judged.ran.run, f"{fail} and {terms}: {list_first_names(red)}" if red else ""


def _require_named_tests(before: BaselineCheck, goal: str) -> BaselineCheck:
    order = f"{goal}\n{before.run.command}"
    return require_tests(before, lambda test: is_named_by_order(test, order))


def pair_checks_with_baseline(context: ToolContext, seen: Iterable[str] = ()) -> list[tuple[Check, BaselineCheck]]:
    """Each check with what is known of it from the baseline; `seen`: tests that were found to be flaky since."""
    baseline = context.state.verification.baseline or Baseline()
    flaky, task = frozenset((*baseline.flaky, *seen)), context.state.task
    known = [
        BaselineCheck(run, load_baseline_outcomes(context.store, run), flaky, files=load_baseline_files(context.store, run))
        for run in baseline.runs
    ]
    return [(check, _require_named_tests(before, task.goal)) for check, before in zip(task.checks, known, strict=True)]


def require_tests(before: BaselineCheck, is_required: Callable[[str], bool]) -> BaselineCheck:
    """The check, with these of the tests that failed having to pass."""
    required = frozenset(test for test in before.outcomes.failing if is_required(test))
    return replace(before, required=before.required | required) if required else before


def waive_tests(before: BaselineCheck, is_waived: Callable[[str], bool]) -> BaselineCheck:
    """The check, with these tests deciding nothing."""
    waived = frozenset(test for test in before.outcomes.tests if is_waived(test))
    return replace(before, waived=before.waived | waived) if waived else before


def verdict_from_comparisons(judgements: Sequence[CheckComparison], measure: int) -> Verdict:
    """One verdict of many judgements. It names first the checks as the user runs them, then those with the base's tests."""
    problems = [judgement.problem for judgement in judgements if judgement.problem]
    lost = dict.fromkeys(test for judgement in judgements for test in judgement.regressions)
    notes = dict.fromkeys(note for judgement in judgements for note in judgement.notes)
    runs = tuple(judgement.ran.run for judgement in judgements)
    told = sorted(judgements, key=lambda judgement: judgement.with_base_tests)
    said = problems or ["; ".join(_summarise_comparison(judgement) for judgement in told)]
    ruling = Ruling.FAIL if problems else Ruling.PASS
    red = sorted({test for judgement in judgements for test in judgement.still_failing})
    verdict = Verdict(ruling, "; ".join(said), runs, tuple(lost), measure=measure, notes=tuple(notes))
    return verdict.add_note(NoteKind.RED, red)


def _summarise_comparison(judgement: CheckComparison) -> str:
    """The run in a line. If it is accepted, those of the base's tests that fail are the ones that may change."""
    failing = judgement.ran.outcomes.failing - judgement.still_failing
    expected = judgement.with_base_tests and failing and not judgement.problem
    alone = judgement.ran.run.evidence.source is EvidenceSource.EXIT and not judgement.ran.run.exit
    more = " (these may fail: the task changed them)" if expected else " (the exit code alone)" if alone else ""
    return summarise_check_run(judgement.ran.run) + more


def collect_archived_blocks(judgements: Iterable[CheckComparison]) -> tuple[Block, ...]:
    return tuple(block for judgement in judgements for block in judgement.ran.blocks)
