"""A command is accepted once it has run tests."""

from typing import Any

import pytest

from afresh.app.test_commands.candidates import CommandCandidate
from afresh.app.test_commands.try_commands import count_tests_run, try_candidates
from afresh.core.action import CommandRun
from support.fakes import TableSandbox

PYTEST = CommandCandidate("python -m pytest -q", "pytest", "x")
CARGO = "test result: {}. {} passed; {} failed; 0 ignored; 0 measured; 0 filtered out\n"
UNITTEST = CommandCandidate("python -m unittest discover", "unittest", "x")
LOOK = "python -m pytest -q --collect-only"
RUN = "export PYTEST_ADDOPTS=--continue-on-collection-errors\npython -m pytest -q"


@pytest.mark.parametrize(
    ("exit", "output", "holds", "tests"),
    [
        (0, "tests/a.py::test_a\n\n12 tests collected in 0.01s\n", True, 12),
        (0, "12/14 tests collected (2 deselected) in 0.01s\n", True, 12),
        (0, "tests/a.py: 3\ntests/b.py: 4\n", True, 7),
        (2, "ERROR tests/a.py\n3 tests collected, 1 error in 0.1s\n", True, 3),
        (2, "==== ERRORS ====\nERROR tests/a.py - ImportError\nno tests collected, 1 error in 0.1s\n", True, 0),
        (5, "no tests collected in 0.00s\n", False, 0),
        (1, "/usr/bin/python: No module named pytest\n", False, 0),
        (127, "bash: python: command not found\n", False, 0),
        (4, "ERROR: usage: pytest\npytest: error: unrecognized arguments: --numprocesses\n", False, 0),
    ],
)
def test_a_look_tells_whether_there_are_tests_to_run(exit: int, output: str, holds: bool, tests: int):
    (trial,) = try_candidates([PYTEST], TableSandbox({LOOK: (exit, output)}))
    assert (trial.holds, trial.tests, trial.ran, trial.exit) == (holds, tests, False, exit)
    assert trial.said or holds


def test_nothing_after_a_command_that_holds_is_started():
    sandbox = TableSandbox({LOOK: (0, "3 tests collected in 0.1s\n")})
    first, second = try_candidates([PYTEST, UNITTEST], sandbox)
    assert first.holds and not second.tried and sandbox.ran == [LOOK]


def test_a_command_that_does_not_hold_gives_way_to_the_next():
    first, second = try_candidates([UNITTEST, PYTEST], TableSandbox({LOOK: (0, "3 tests collected in 0.1s\n")}))
    assert not first.holds and first.exit == 127 and second.holds


def test_with_time_the_tests_are_run_too():
    sandbox = TableSandbox({LOOK: (0, "3 tests collected in 0.1s\n"), RUN: (1, "F..\n1 failed, 2 passed in 0.1s\n")})
    (trial,) = try_candidates([PYTEST], sandbox, limit=5)
    assert (trial.holds, trial.ran, trial.exit, trial.tests) == (True, True, 1, 3)


@pytest.mark.parametrize(
    ("output", "exit", "holds"),
    [
        ("ok  \texample.org/a\t0.1s\n", 0, True),
        ("FAIL\texample.org/a\t0.1s\n", 1, True),
        ("go: no network\n", 1, False),
        ("", 0, False),
        ("# tests 3\n# pass 2\n# fail 1\n", 1, True),
        ("\n  2 passing (3ms)\n  1 failing\n", 1, True),
        ("ok 1 - adds\nnot ok 2 - divides\n1..2\n# { total: 2, pass: 1, fail: 1 }\n", 1, True),
    ],
)
def test_where_a_look_names_no_tests_the_run_must_show_some(output: str, exit: int, holds: bool):
    go = CommandCandidate("go test ./...", "go", "go.mod")
    (trial,) = try_candidates(
        [go], TableSandbox({"go list ./...": (0, "example.org/a\n"), "go test ./...": (exit, output)}), limit=5
    )
    assert trial.holds is holds


def test_tests_that_outlast_the_limit_are_tests():
    class Slow(TableSandbox):
        def run(self, command: str, timeout: float, reports: bool = False, **_: Any) -> CommandRun:
            done = super().run(command, timeout)
            return done if command == LOOK else CommandRun(command, 124, "....", timeout, timed_out=True)

    (trial,) = try_candidates([PYTEST], Slow({LOOK: (0, "900 tests collected in 0.1s\n")}), limit=7)
    assert trial.holds and trial.said == "still running after 7 s" and trial.tests == 900


def test_tests_that_all_fail_to_import_are_taken_only_if_nothing_else_runs():
    broken = (2, "ERROR tests/a.py - ImportError\nno tests collected, 1 error in 0.1s\n")
    script = CommandCandidate("python runtests.py", "script", "tox.ini")
    first, second = try_candidates(
        [PYTEST, script], TableSandbox({LOOK: broken, "python runtests.py": (0, "Found 17512 test(s).\n")})
    )
    assert not first.holds and second.holds and second.tests == 17512
    first, second = try_candidates([PYTEST, script], TableSandbox({LOOK: broken}))
    assert first.holds and not second.holds


@pytest.mark.parametrize(
    ("output", "tests", "failed"),
    [
        ("Test Suites: 1 passed, 1 total\nTests:       2 failed, 1 passed, 3 total\nSnapshots:   4 passed, 4 total\n", 3, 2),
        (" Test Files  1 failed | 12 passed (13)\n      Tests  4 failed | 470 passed (474)\n", 474, 4),
        ("  Test Files  2 passed\n  Tests  7 passed (7)\n", 7, 0),
        ("# tests 3\n# suites 0\n# pass 2\n# fail 1\n", 3, 1),
        ("  4 passing (2ms)\n  1 failing\n", 5, 1),
        (CARGO.format("ok", 3, 0) + CARGO.format("FAILED", 2, 1), 6, 1),
        ("Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1)\n", 5, 2),
        ("2 failed, 3 passed in 0.12s\n", 5, 2),
    ],
)  # fmt: skip
def test_tests_are_counted_and_not_the_files_that_hold_them(output: str, tests: int, failed: int):
    assert count_tests_run("run", CommandRun("run", 1 if failed else 0, output, 1.0)) == (tests, failed, 0)


def test_a_skipped_test_did_not_pass():
    assert count_tests_run("pytest", CommandRun("pytest", 0, "3 passed, 2 skipped in 0.12s\n", 1.0)) == (5, 0, 2)
