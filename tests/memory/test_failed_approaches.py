"""Which lines of which output say why a step was not accepted."""

from afresh.core.archived_block import block_from_text
from afresh.core.step_result import StepResult
from afresh.core.verdict import CheckRun, FailedTest, Ruling, Verdict
from afresh.memory.failed_approaches import WHOLE_BLOCK, find_evidence

LINT = block_from_text("All checks passed!\n")
NAMES = ("a", "b", "c", "d", "e", "f", "f_more")
SUMMARY = [f"FAILED t.py::test_{name} - boom" for name in NAMES]
TESTS = block_from_text("\n".join(["=== short test summary info ===", *SUMMARY, "7 failed in 0.1s"]))
STYLE = block_from_text("a.py:3:1: E501 too long\n")


def judged(*runs, lost=(), blocks=(LINT, TESTS, STYLE)):
    return StepResult((), "", verdict=Verdict(Ruling.FAIL, "worse", runs, lost), blocks=blocks)


def ran(made, code=1):
    return CheckRun("check", code, block=made.id)


def test_the_run_that_failed_is_the_evidence_and_not_the_last():
    found = find_evidence(judged(ran(STYLE), ran(LINT, 0)))
    assert (found.block, found.lines) == (STYLE.id, (1, 1))


def test_the_run_that_names_the_lost_test_goes_before_one_that_fails_too():
    found = find_evidence(judged(ran(STYLE), ran(TESTS), lost=("t.py::test_b",)))
    assert (found.block, found.lines) == (TESTS.id, (3, 3))


def test_a_lost_test_beyond_the_first_findings_is_found_by_its_name():
    assert find_evidence(judged(ran(TESTS), lost=("t.py::test_f",))).lines == (7, 7)


def test_what_was_found_without_a_run_becomes_a_block_of_its_own():
    broken = CheckRun("compile", 1, failures=(FailedTest("a.py", "SyntaxError: invalid syntax (a.py, line 3)", "line 3: def"),))
    found = find_evidence(judged(broken))
    assert found.made[0].id == found.block and found.lines == (1, 2) and "line 3: def" in found.made[0].text


def test_without_a_verdict_or_a_run_there_is_no_evidence():
    assert find_evidence(StepResult((), "")).block == "" and find_evidence(judged()).lines == WHOLE_BLOCK
    assert find_evidence(judged(ran(LINT), blocks=())).lines == WHOLE_BLOCK
