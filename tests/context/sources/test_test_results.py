from afresh.context.sources.test_results import gather_failing_tests, gather_measured_coverage
from afresh.core.state import State
from afresh.core.states.verification_state import VerificationState
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.task import Task
from afresh.core.verdict import Baseline, CheckRun, FailedTest, Ruling, Verdict
from support.fakes import DictFiles

COMMAND = "pytest -q --cov=shop --cov-report=term-missing"
TABLE = """
Name            Stmts   Miss  Cover   Missing
---------------------------------------------
shop/price.py      40     {miss}    {cover}%   {lines}
shop/other.py      10      0   100%
---------------------------------------------
TOTAL              50     {miss}    {total}%
"""
TEXTS = {
    "before": TABLE.format(miss=10, cover=75, lines="12-14, 30", total=80),
    "after": TABLE.format(miss=2, cover=95, lines="30", total=96),
}


def told(verdict: Verdict | None, command: str = COMMAND) -> list[str]:
    baseline = Baseline((CheckRun(command, 0, block="before"),))
    state = State(
        task=Task(id="t", goal="g"),
        verification=VerificationState(baseline=baseline, verdict=verdict),
        workspace=WorkspaceState(changed=("shop/price.py", "README.md")),
    )
    return [look.text for look in gather_measured_coverage(state, TEXTS.__getitem__)]


def run(scope: str) -> Verdict:
    return Verdict(Ruling.PASS, "", (CheckRun(COMMAND, 0, scope=scope, block="after"),))


def test_coverage_is_told_before_and_after_with_the_lines_that_nothing_ran():
    assert told(run("full")) == ["shop/price.py: 75 % → 95 % of lines run; not: 30", "all files: 80 % → 96 % of lines run"]


def test_a_targeted_run_is_not_held_against_a_full_one():
    whole = ["shop/price.py: 75 % of lines run; not: 12-14, 30", "all files: 80 % of lines run"]
    assert told(run("targeted: tests/test_price.py")) == whole == told(None)


def test_a_check_that_measures_nothing_is_not_read():
    assert told(None, "pytest -q") == []


def test_the_source_of_a_test_is_shown_once_for_all_its_cases():
    files = DictFiles(**{"test_a.py": "def test_sum(case):\n    assert case\n\n\ndef test_other():\n    assert 0\n"})
    failures = tuple(FailedTest(f"test_a.py::{name}") for name in ("test_sum[0]", "test_sum[1]", "test_sum[2]", "test_other"))
    verdict = Verdict(Ruling.FAIL, "", (CheckRun("pytest", 1, failures=failures),))
    state = State(task=Task(id="t", goal="g"), verification=VerificationState(verdict=verdict))
    assert [note.subject for note in gather_failing_tests(state, files)] == [
        "test_a.py::test_sum",
        "test_a.py::test_other",
    ]
