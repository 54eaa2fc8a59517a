import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.verification.runner_reports import read_printed_tests

CASES = """
import unittest
class Case(unittest.TestCase):
    def test_ok(self):
        "A docstring."
    def test_loud(self): print("words before the verdict")
    def test_bad(self): self.assertEqual(1, 2, "boom")
    def test_error(self): {}["x"]
    @unittest.skip("no")
    def test_skip(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail()
class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError("no class")
    def test_never(self): pass
"""


def ran(folder: Path, *options: str) -> str:
    (folder / "test_case.py").write_text(CASES)
    command = [sys.executable, "-m", "unittest", *options]
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


def test_a_verbose_run_names_every_test(tmp_path: Path) -> None:
    found = read_printed_tests(ran(tmp_path, "-v"))
    assert found and found.named
    assert found.tests == {
        "test_case.Case.test_ok": "passed", "test_case.Case.test_loud": "passed", "test_case.Case.test_bad": "failed",
        "test_case.Case.test_error": "error", "test_case.Case.test_skip": "skipped", "test_case.Case.test_expected": "skipped",
        "test_case.Broken.setUpClass": "error",
    }  # fmt: skip
    messages = {failure.test: failure.message for failure in found.failures}
    assert messages["test_case.Case.test_bad"] == "AssertionError: 1 != 2 : boom"
    assert messages["test_case.Case.test_error"] == "KeyError: 'x'"


def test_a_quiet_run_names_only_what_failed(tmp_path: Path) -> None:
    found = read_printed_tests(ran(tmp_path))
    assert found and not found.named
    assert found.failing == {"test_case.Case.test_bad", "test_case.Case.test_error", "test_case.Broken.setUpClass"}
    assert (found.failed, found.skipped) == (3, 2)


@pytest.mark.parametrize(
    "line", ["test_a (mod.Case) ... ok", "test_a (mod.Case.test_a) ... ok", "test_a (mod.Case)\nWords. ... ok"]
)
def test_old_and_new_names_are_one(line: str) -> None:
    found = read_printed_tests(f"{line}\n\n{'-' * 70}\nRan 1 test in 0.001s\n\nOK\n")
    assert found and found.tests == {"mod.Case.test_a": "passed"} and found.named


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    read_printed_tests(text)
    read_printed_tests("=" * 70 + "\nFAIL: " + text + "\nRan 1 test in 0.1s\nFAILED (failures=" + text)
