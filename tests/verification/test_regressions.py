"""Rules for runs whose tests can't all be named."""

from afresh.core.verdict import CheckRun
from afresh.outputs.test_reports.outcomes import OutcomesByTest
from afresh.verification.checks import CheckResult
from afresh.verification.regressions import BaselineCheck, compare_final_run, compare_step_run

NOTHING = OutcomesByTest()


def ran(exit: int, outcomes: OutcomesByTest = NOTHING, timed_out: bool = False) -> CheckResult:
    return CheckResult(CheckRun("make test", exit, timed_out=timed_out), outcomes, ())


def before(exit: int, outcomes: OutcomesByTest = NOTHING, *flaky: str) -> BaselineCheck:
    return BaselineCheck(CheckRun("make test", exit), outcomes, frozenset(flaky))


NAMED = OutcomesByTest({"a": "passed", "b": "passed"}, 2, 0, 0, named=True)
COUNTED = OutcomesByTest({}, 12)


def test_a_command_without_test_names_is_judged_by_its_exit_code() -> None:
    assert compare_step_run(ran(1), before(0)).problem
    assert not compare_step_run(ran(1), before(1)).problem, "it failed before: nothing can be held against the step"
    assert compare_final_run(ran(1), before(1)).problem, "but at the end it must exit 0"
    assert not compare_final_run(ran(0), before(1)).problem


def test_a_run_that_names_no_test_any_more_is_no_pass() -> None:
    assert compare_step_run(ran(0), before(0, NAMED)).problem and compare_final_run(ran(0), before(0, NAMED)).problem
    assert compare_step_run(ran(139), before(1, NAMED)).problem, "the interpreter crashed"


def test_a_lost_test_shows_in_the_count_where_names_are_missing() -> None:
    assert "12 tests passed before, only 11 now" in compare_final_run(ran(0, OutcomesByTest({}, 11)), before(0, COUNTED)).problem
    assert not compare_final_run(ran(0, OutcomesByTest({}, 13)), before(0, COUNTED)).problem
    cut = OutcomesByTest({"b": "passed"}, 2)
    assert not compare_final_run(ran(0, cut), before(0, NAMED)).problem, (
        "a name that was cut from a long output is not a missing test"
    )


def test_without_names_at_the_base_every_failing_test_counts_as_new_breakage() -> None:
    assert compare_step_run(ran(1, OutcomesByTest({"x": "failed"}, 11, 1)), before(0, COUNTED)).regressions == ("x",)


def test_an_exit_code_that_no_test_explains_fails() -> None:
    assert "exits 1 now, and 0 before" in compare_step_run(ran(1, NAMED), before(0, NAMED)).problem
    assert compare_final_run(ran(1, NAMED), before(0, NAMED)).problem


def test_a_skipped_test_passed_before_and_must_pass_again() -> None:
    skipped = OutcomesByTest({"a": "passed", "b": "skipped"}, 1, 0, 1, named=True)
    assert compare_final_run(ran(0, skipped), before(0, NAMED)).regressions == ("b",)
    assert not compare_final_run(ran(0, skipped), before(0, NAMED, "b")).problem, "a flaky one need not"


def test_a_flaky_failure_beside_a_real_one_excuses_nothing() -> None:
    now = OutcomesByTest({"a": "failed", "b": "passed", "c": "failed"}, 1, 2, 0, named=True)
    known = before(1, OutcomesByTest({"a": "failed", "b": "passed", "c": "failed"}, 1, 2, 0, named=True), "a")
    assert "failed before the task began and still fails: c" in compare_final_run(ran(1, now), known).problem
