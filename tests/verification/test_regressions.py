"""Rules for runs whose tests can't all be named."""

from dataclasses import replace

import pytest

from afresh.core.archived_block import Block
from afresh.core.verdict import CheckRun, EvidenceSource, FailedTest, NoteKind, TestEvidence, VerdictNote, describe_evidence
from afresh.outputs.outcomes import OutcomesByTest
from afresh.verification.checks import CheckResult
from afresh.verification.regressions import BaselineCheck, compare_final_run, compare_step_run

NOTHING = OutcomesByTest()


def ran(exit: int, outcomes: OutcomesByTest = NOTHING, timed_out: bool = False) -> CheckResult:
    return CheckResult(CheckRun("make test", exit, timed_out=timed_out), outcomes, ())


def before(exit: int, outcomes: OutcomesByTest = NOTHING, *flaky: str) -> BaselineCheck:
    return BaselineCheck(CheckRun("make test", exit), outcomes, frozenset(flaky))


NAMED = OutcomesByTest({"a": "passed", "b": "passed"}, 2, 0, 0, named=True)
COUNTED = OutcomesByTest({}, 12)
SOME_NAMED = OutcomesByTest({"b": "passed"}, 2)
WITH_A_FAILURE = OutcomesByTest({"a": "passed", "b": "passed", "c": "failed"}, 2, 1, 0, named=True)
REPORTED, PRINTED = TestEvidence(EvidenceSource.RUNNER), TestEvidence(EvidenceSource.TEXT)


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
    cut = replace(ran(0, SOME_NAMED), blocks=(Block("o", "[afresh: 5,000 bytes of output left out here]\nPASSED b\n2 passed"),))
    assert not compare_final_run(cut, before(0, NAMED)).problem, "a name that was cut from a long output is not a missing test"


def test_without_names_at_the_base_every_failing_test_counts_as_new_breakage() -> None:
    assert compare_step_run(ran(1, OutcomesByTest({"x": "failed"}, 11, 1)), before(0, COUNTED)).regressions == ("x",)


def test_an_exit_code_that_no_test_explains_fails() -> None:
    assert "exits 1 now, and 0 before" in compare_step_run(ran(1, NAMED), before(0, NAMED)).problem
    assert compare_final_run(ran(1, NAMED), before(0, NAMED)).problem


def test_a_skipped_test_passed_before_and_must_pass_again() -> None:
    skipped = OutcomesByTest({"a": "passed", "b": "skipped"}, 1, 0, 1, named=True)
    assert compare_final_run(ran(0, skipped), before(0, NAMED)).regressions == ("b",)
    assert not compare_final_run(ran(0, skipped), before(0, NAMED, "b")).problem, "a flaky one need not"


def outcomes(**tests: str) -> OutcomesByTest:
    return OutcomesByTest(
        {name.replace("__", "::"): outcome for name, outcome in tests.items()},
        [*tests.values()].count("passed"),
        [*tests.values()].count("failed") + [*tests.values()].count("error"),
        named=True,
    )


RED = outcomes(t__a="passed", t__b="failed", t__c="error")


def test_failures_of_before_are_accepted_and_nothing_else_is() -> None:
    was = before(1, RED)
    same = compare_final_run(ran(1, RED), was)
    assert not same.problem and same.still_failing == {"t::b", "t::c"} and same.ran.run.red_as_before
    assert not compare_final_run(ran(1, outcomes(t__a="passed", t__b="passed", t__c="failed")), was).problem
    worse = {
        "t::b": outcomes(t__a="passed", t__b="error", t__c="error"),
        "t::d": outcomes(t__a="passed", t__b="failed", t__c="error", t__d="failed"),
        "t::a": outcomes(t__a="failed", t__b="failed", t__c="error"),
        "is skipped or gone": outcomes(t__a="passed", t__c="error"),
        "passed before": outcomes(t__b="failed", t__c="error"),
        "and only 2 can be named": replace(RED, failed=3),
    }
    for told, now in worse.items():
        judged = compare_final_run(ran(1, now), was)
        assert judged.problem and not judged.ran.run.red_as_before, told
        assert told in judged.problem or told == "passed before"
    assert "before the task it exited 1" in compare_final_run(ran(139, RED), was).problem, "it crashed after the tests"
    assert "did not run" in compare_final_run(replace(ran(1, RED), evidence=TestEvidence(unfinished=("t::z",))), was).problem


def test_an_error_that_stands_for_tests_which_did_not_run_is_never_accepted() -> None:
    for name in ("tests/test_x.py", "unittest.loader._FailedTest.test_x", "mod.Case.setUpClass", "example.com/pkg"):
        broken = OutcomesByTest({"t::a": "passed", name: "error"}, 1, 1, named=True)
        assert name in compare_final_run(ran(1, broken), before(1, broken)).problem


def test_cases_whose_names_change_from_run_to_run_are_counted() -> None:
    was = before(
        1, OutcomesByTest({"t::a[0x2]": "failed", "t::a[0x3]": "passed"}, 1, 1, named=True), "t::a[0x1]", "t::a[0x2]", "t::a[0x3]"
    )
    one = OutcomesByTest({"t::a[0x4]": "failed", "t::a[0x5]": "passed"}, 1, 1, named=True)
    two = OutcomesByTest({"t::a[0x4]": "failed", "t::a[0x5]": "failed"}, 0, 2, named=True)
    assert not compare_final_run(ran(1, one), was).problem and compare_final_run(ran(1, two), was).problem


def test_a_flaky_failure_beside_one_of_before_is_told() -> None:
    now = OutcomesByTest({"a": "failed", "b": "passed", "c": "failed"}, 1, 2, 0, named=True)
    judged = compare_final_run(ran(1, now), before(1, now, "a"))
    assert not judged.problem and judged.still_failing == {"c"} and judged.notes == (VerdictNote(NoteKind.UNDECIDED, ("a",)),)
    assert (
        "1 test that the task names or changes still fails: c"
        in compare_final_run(ran(1, now), replace(before(1, now), required=frozenset("c"))).problem
    )


def test_a_test_that_a_whole_output_does_not_name_has_not_run() -> None:
    assert compare_final_run(ran(0, SOME_NAMED), before(0, NAMED)).regressions == ("a",), "2 passed, says the text"


def test_an_exit_of_zero_does_not_hide_a_test_that_fails() -> None:
    judged = compare_final_run(ran(0, WITH_A_FAILURE), before(0, NAMED))
    assert judged.problem == "`make test` exits 0, though 1 test fails: c"
    assert not compare_final_run(ran(0, WITH_A_FAILURE), before(0, NAMED, "c")).problem, "a flaky one decides nothing"
    assert not compare_final_run(ran(0, WITH_A_FAILURE), before(0, WITH_A_FAILURE)).problem, "the check always exits 0"
    assert compare_final_run(ran(0, WITH_A_FAILURE), before(1, WITH_A_FAILURE)).problem


def test_text_does_not_stand_in_for_the_report_that_a_runner_wrote_before() -> None:
    known = before(0, NAMED)
    known = replace(known, run=replace(known.run, evidence=REPORTED))
    printed = replace(ran(0, NAMED), evidence=PRINTED)
    assert "exits 0 without the report" in compare_final_run(printed, known).problem
    assert not compare_final_run(replace(printed, evidence=REPORTED), known).problem
    some = replace(printed, run=replace(printed.run, scope="targeted: a.test.js"))
    assert not compare_step_run(some, known).problem


def test_whoever_reads_the_verdict_learns_what_could_be_forged() -> None:
    runs = [replace(ran(0).run, evidence=TestEvidence(source)) for source in EvidenceSource]
    told = [describe_evidence([run]) for run in runs]
    assert [("could forge" in one) for one in told] == [False, True, True, False, False]


@pytest.mark.parametrize(("line", "statement", "otherwise"), [(9, "assert old(1) == 2", False), (5, "assert old(2) == 3", True)])
def test_a_red_test_fails_otherwise_in_another_statement_not_in_another_line(line: int, statement: str, otherwise: bool) -> None:
    def fail(line: int, statement: str) -> CheckRun:
        return CheckRun("make test", 1, failures=(FailedTest("t.py::b", "assert 1 == 2", f"t.py:{line}: in b\n    {statement}"),))

    was = outcomes(**{"t.py::b": "failed"})
    judged = compare_final_run(
        CheckResult(fail(line, statement), was, ()), BaselineCheck(fail(5, "assert old(1) == 2"), was, frozenset())
    )
    assert bool(judged.notes) is otherwise and judged.still_failing == {"t.py::b"}
