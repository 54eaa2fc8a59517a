"""What a window says of the checks: each fact once, and no PASS beside tests that fail."""

from afresh.context.sources.verification_status import render_check_status
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY as POLICY
from afresh.core.state import State
from afresh.core.task import Check, Task
from afresh.core.verdict import Baseline, CheckRun, FailedTest, Ruling, Verdict
from afresh.core.verification_state import VerificationState
from afresh.core.work_state import WorkState

GREEN = CheckRun("pytest -q", 0, passed=9)
NEW = CheckRun("pytest -q", 1, passed=9, failed=1, failures=(FailedTest("test_a.py::test_new", "assert 1 == 2"),))


def told(verdict: Verdict) -> list[str]:
    task = Task(id="t", goal="Make it work", checks=(Check("pytest -q"),))
    return render_check_status(
        State(
            task=task,
            verification=VerificationState(baseline=Baseline((GREEN,)), verdict=verdict, verdict_step=3),
            work=WorkState(step=3),
        ),
        POLICY.reports,
    )[1:]


def test_a_change_whose_new_tests_fail_is_kept_and_not_called_a_pass():
    reason = "pytest -q: 9 passed, 1 failed; 1 new test fails: test_new"
    first, second = told(Verdict(Ruling.PASS, reason, (NEW,)))
    assert first == f"After step 3 (change): kept, not finished: {reason}"
    assert second == "  FAILED test_a.py::test_new: assert 1 == 2"


def test_a_run_that_the_reason_does_not_tell_of_is_told_apart():
    assert "  pytest -q: 9 passed, 1 failed" in told(Verdict(Ruling.FAIL, "worse than before", (NEW,)))


def test_a_green_change_is_a_pass_in_one_line():
    assert told(Verdict(Ruling.PASS, "pytest -q: 9 passed", (GREEN,))) == ["After step 3 (change): PASS: pytest -q: 9 passed"]
