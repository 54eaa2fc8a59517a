"""What a window says of the checks: each fact once, and no PASS beside tests that fail."""

from typing import Any

from afresh.context.sources.verification_status import render_check_status
from afresh.core.decision import Decision
from afresh.core.state import State
from afresh.core.states.memory_state import MemoryState
from afresh.core.states.verification_state import VerificationState
from afresh.core.states.work_state import WorkState
from afresh.core.task import Check, Task
from afresh.core.verdict import Baseline, CheckRun, FailedTest, Ruling, Verdict

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


def test_cases_of_one_test_and_tests_with_one_message_are_told_once_with_a_count():
    cases = [FailedTest(f"test_a.py::test_sum[{case}]", f"assert {case} == 2", "in sum\nboom") for case in range(4)]
    others = [FailedTest(f"test_a.py::test_{name}", "NameError: x") for name in ("one", "two")]
    run = CheckRun("pytest -q", 1, passed=9, failed=6, failures=(*cases, *others))
    lines = told(Verdict(Ruling.FAIL, "worse", (run,)))
    assert [line for line in lines if "FAILED" in line] == [
        "  FAILED test_a.py::test_sum[0] and 3 more: assert 0 == 2",
        "  FAILED test_a.py::test_one and 1 more: NameError: x",
    ]
    assert sum("boom" in line for line in lines) == 1


def test_flaky_tests_are_called_by_their_names_with_a_count_of_cases_and_many_are_not_all_listed():
    """A case whose name holds the time of day is in one run only."""
    flaky = tuple(f"tests/deep/folder/test_moody.py::TestMood::test_{number}" for number in range(9))
    flaky = (*[f"{flaky[0]}[11:57:0{second}]" for second in range(4)], *flaky[1:])
    state = State(task=Task(id="t", goal="g"), verification=VerificationState(baseline=Baseline((GREEN,), flaky)))
    assert (
        render_check_status(state)[1]
        == "Not the same in each run, decide nothing: test_0 (4 cases), test_1, test_2, test_3, test_4, test_5, …"
    )


def answered_after(verdict: Verdict, **more: Any) -> list[str]:
    answered = Decision("yes", "person", step=3, subject="May I?", confidence=1.0)
    verification = VerificationState(baseline=Baseline((GREEN,)), verdict=verdict, verdict_step=3, **more)
    state = State(task=Task(id="t", goal="g"), verification=verification, memory=MemoryState(decisions=(answered,)))
    return render_check_status(state)[1:]


def test_of_a_refusal_that_a_person_has_answered_only_the_runs_are_left():
    lines = answered_after(Verdict(Ruling.FAIL, "tests were weakened", (NEW,), final=True))
    assert lines[0].startswith("After step 3: ") and not any("weakened" in line for line in lines)


def test_of_a_step_that_was_undone_the_prompt_says_how_the_tree_is():
    verification = VerificationState(
        Baseline((GREEN,)), Verdict(Ruling.FAIL, "worse", (NEW,)), 3, True, Verdict(Ruling.PASS, "fine", (GREEN,)), 2
    )
    lines = render_check_status(State(task=Task(id="t", goal="g"), verification=verification))
    assert lines[-1] == "(undone: the tree is as before that step, and the checks of step 2 hold: PASS)"
    assert answered_after(
        Verdict(Ruling.FAIL, "worse"), is_undone=True, kept_verdict=Verdict(Ruling.PASS, "fine", (GREEN,)), kept_step=2
    ) == ["After step 2 (change): PASS: fine"]
