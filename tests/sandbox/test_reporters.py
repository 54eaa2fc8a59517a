"""What test runners report to us from inside the sandbox, and what must not be held against honest tests."""

import sys
from pathlib import Path

import pytest

from afresh.core.task import Check
from afresh.core.verdict import EvidenceSource
from afresh.sandbox.choose_level import open_level
from afresh.sandbox.mounts import Mounts
from afresh.verification.checks import CheckResult, run_check
from afresh.verification.doubtful_evidence import find_doubt

PYTEST = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q"
PASSING = "def test_a():\n    pass\n"
MIXED = """\
import functools, unittest
from unittest import mock
import pytest

def decorated(function):
    @functools.wraps(function)
    def call():
        return function()
    return call

@decorated
def test_decorated(): pass
@pytest.mark.xfail
def test_expected(): assert False
@pytest.mark.parametrize("x", [1, 2])
def test_cases(x): assert x
@pytest.mark.skip
def test_skipped(): assert False
def test_patches():
    with mock.patch("unittest.TestCase.assertEqual"), mock.patch("_pytest.reports.TestReport.from_item_and_call"):
        pass
@pytest.fixture
def broken():
    yield
    raise ValueError
def test_torn_down(broken): pass
class Case(unittest.TestCase):
    def test_case(self): self.assertEqual(1, 2)
"""
NESTED = """\
import pathlib, subprocess, sys, pytest

def test_inner(tmp_path):
    file = tmp_path / "test_inside.py"
    file.write_text("def test_inside(): assert False")
    assert pytest.main(["-q", str(file), "-p", "no:cacheprovider"]) == 1
    assert subprocess.run([sys.executable, "-m", "pytest", "-q", str(file)]).returncode == 1
"""
CASES = """\
import unittest

class T(unittest.TestCase):
    def test_good(self): pass
    def test_bad(self): self.assertEqual(1, 2)
    @unittest.skip("x")
    def test_skipped(self): pass
    def test_parts(self):
        with self.subTest(1):
            self.fail()

class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise ValueError
    def test_never(self): pass
"""


@pytest.fixture(params=["bubblewrap", "landlock"])
def tree(request: pytest.FixtureRequest, tmp_path: Path, requires_sandbox):
    """A function that checks files by a command at one level of the sandbox."""
    requires_sandbox(request.param)
    (tmp_path / "tree").mkdir()
    (tmp_path / "at").mkdir()
    (tmp_path / "tree/.git").write_text("gitdir: nowhere\n")
    sandbox = open_level(request.param, Mounts(tmp_path / "tree", tmp_path / "at"))

    def check(command: str = PYTEST, **files: str) -> CheckResult:
        for name, text in files.items():
            (tmp_path / "tree" / f"{name}.py").write_text(text)
        return run_check(sandbox, Check(command, 60))

    check.sandbox = sandbox  # pyright: ignore[reportFunctionMemberAccess]
    return check


def test_every_kind_of_outcome_is_reported_and_none_of_it_is_odd(tree) -> None:
    ran = tree(test_mixed=MIXED)
    assert ran.evidence.source is EvidenceSource.REPORT and ran.evidence.exit == ran.run.exit == 1
    assert {test.partition("::")[2]: outcome for test, outcome in ran.outcomes.tests.items()} == {
        "test_decorated": "passed",
        "test_expected": "skipped",
        "test_cases[1]": "passed",
        "test_cases[2]": "passed",
        "test_skipped": "skipped",
        "test_patches": "passed",
        "test_torn_down": "error",
        "Case::test_case": "failed",
    }
    odd = ran.evidence.denied, ran.evidence.foreign, ran.evidence.unfinished
    assert odd == ((), (), ()) and not [name for name in ran.evidence.altered if "assert" in name or "reports" in name]
    assert {one.test: one.message for one in ran.outcomes.failures}["test_mixed.py::Case::test_case"] == "AssertionError: 1 != 2"


def test_sessions_that_tests_start_do_not_report_and_those_after_one_another_do(tree) -> None:
    assert set(tree(test_nested=NESTED).outcomes.tests) == {"test_nested.py::test_inner"}
    both = tree(f"{PYTEST} test_one.py; {PYTEST} test_two.py", test_one=PASSING, test_two=PASSING)
    assert set(both.outcomes.tests) == {"test_one.py::test_a", "test_two.py::test_a"}


def test_workers_report_through_their_controller(tree) -> None:
    ran = tree(f"{PYTEST} -p xdist -n 1", test_mixed=MIXED)
    assert ran.evidence.source is EvidenceSource.REPORT and ran.outcomes.failed == 2 and not ran.evidence.unfinished


def test_the_path_is_as_without_us_once_the_runner_is_loaded(tree) -> None:
    """A module of the tree wins over an installed one, as `python -m pytest` has it, though not over what pytest needs."""
    uses = "import click, iniconfig\n\ndef test_a():\n    assert click.OURS and not hasattr(iniconfig, 'OURS')\n"
    ran = tree(test_uses=uses, click="OURS = True\n", iniconfig="OURS = True\n")
    assert ran.outcomes.tests == {"test_uses.py::test_a": "passed"}
    assert tree(f"PYTHONPATH=. {PYTEST}").evidence.source is EvidenceSource.REPORT


def test_unittest_reports_each_test_by_the_id_that_it_prints(tree) -> None:
    ran = tree(f"{sys.executable} -m unittest", test_cases=CASES)
    printed = tree(f"AFRESH_REPORTS= {sys.executable} -m unittest -v")
    assert (ran.evidence.source, printed.evidence.source) == (EvidenceSource.REPORT, EvidenceSource.TEXT)
    assert ran.outcomes.tests == printed.outcomes.tests | {
        "test_cases.T.test_parts": "failed",
        "test_cases.T.test_skipped": "skipped",
    }


def test_a_reporter_can_not_be_changed_and_a_link_is_no_report(tree) -> None:
    overwrite = 'echo x > "$PYTHONPATH/sitecustomize.py"'
    done = tree.sandbox.run(
        f'{overwrite}; ln -s /etc/hostname "$AFRESH_REPORTS/link"; echo hello > "$AFRESH_REPORTS/own.json"', 20, reports=True
    )
    assert dict(done.reports) == {"own.json": "hello\n"} and len(set(done.keys)) == 16
    assert "denied" in done.output or "Read-only" in done.output


def test_a_run_that_is_like_the_baseline_is_not_doubted(tree) -> None:
    was, now = tree(test_mixed=MIXED), tree(test_mixed=MIXED + "\n\ndef test_more():\n    pass\n")
    assert find_doubt(was.evidence, now.evidence, (1, 1), was.outcomes.tests) == ""
    assert "without a report" in find_doubt(was.evidence, tree("true").evidence, (1, 0), was.outcomes.tests)
