"""The reader of pytest's output, against recorded and real runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.action import CommandRun
from afresh.core.rewrite_check_command import instrument_command
from afresh.core.verdict import FailedTest
from afresh.outputs.outcomes import OutcomesByTest, collapse_failures, keep_worst_outcome
from afresh.verification.checks import read_test_outcomes
from afresh.verification.runner_reports import read_printed_tests

SEVEN = r"""
..F                                                                      [100%]
==================================== ERRORS ====================================
_______________________ ERROR collecting tests/test_b.py _______________________
tests/test_b.py:1: in <module>
    import nothing_here
E   ModuleNotFoundError: No module named 'nothing_here'
=================================== FAILURES ===================================
________________________________ test_p[a - b] _________________________________
tests/test_a.py:7: in test_p
    def test_p(s): assert s != "a - b", "boom - here"
E   AssertionError: boom - here
E   assert 'a - b' != 'a - b'
=========================== short test summary info ============================
PASSED tests/test_a.py::test_ok
PASSED tests/test_a.py::test_p[a b]
PASSED tests/test_a.py::test_p[[x]]
PASSED tests/test_a.py::test_p[\xe9]
PASSED tests/test_a.py::test_teardown
SKIPPED [1] tests/test_a.py:16: no
XFAIL tests/test_a.py::test_xf - xf
XPASS tests/test_a.py::test_xp
ERROR tests/test_b.py
ERROR tests/test_a.py::test_teardown - RuntimeError: teardown
FAILED tests/test_a.py::test_p[a - b] - AssertionError: boom - here
FAILED tests/test_a.py::U::test_sub - AssertionError: 1 == 1
2 failed, 5 passed, 1 skipped, 1 xfailed, 1 xpassed, 2 errors in 0.06s
"""

NINE = """
=================================== FAILURES ===================================
______________________________ U.test_sub (i='1') ______________________________
[gw1] linux -- Python 3.11.7 /usr/bin/python
tests/test_a.py:29: in test_sub
    with self.subTest(i=i): self.assertNotEqual(i, 1)
E   AssertionError: 1 == 1
=========================== short test summary info ============================
PASSED tests/test_a.py::U::test_sub
PASSED tests/test_a.py::test_ok
SUBFAILED(i='1 2') tests/test_a.py::U::test_sub - AssertionError: 1 == 1
==== 1 failed, 2 passed, 2 subtests passed in 83.81s (0:01:23) ====
"""


def test_the_format_of_pytest_7_and_8() -> None:
    found = read_printed_tests(SEVEN)
    assert found and found.named
    assert (found.passed, found.failed, found.skipped) == (5, 4, 3)
    assert found.tests["tests/test_a.py::test_p[a b]"] == "passed"
    assert found.tests["tests/test_a.py::test_p[a - b]"] == "failed"
    assert found.tests["tests/test_a.py::test_teardown"] == "error", "passing and then breaking in the teardown is no pass"
    assert found.tests["tests/test_a.py::test_xp"] == "skipped"
    assert found.tests["tests/test_b.py"] == "error"
    by_test = {failure.test: failure for failure in found.failures}
    assert by_test["tests/test_a.py::test_p[a - b]"].message == "AssertionError: boom - here"
    assert by_test["tests/test_b.py"].message == "ModuleNotFoundError: No module named 'nothing_here'"


def test_the_format_of_pytest_9_with_subtests_and_xdist() -> None:
    found = read_printed_tests(NINE)
    assert found and found.tests == {"tests/test_a.py::U::test_sub": "failed", "tests/test_a.py::test_ok": "passed"}
    assert (found.passed, found.failed, found.named) == (2, 1, True)
    assert found.failures[0].message == "AssertionError: 1 == 1" and "subTest" in found.failures[0].detail


def test_no_tests_and_other_output_are_told_apart() -> None:
    none = read_printed_tests("\nno tests ran in 0.01s\n")
    assert none and not none.readable
    assert read_printed_tests("make: *** [Makefile:2: test] Error 1\n") is None
    assert read_printed_tests("") is None


def test_of_one_command_only_the_last_session_is_its_own() -> None:
    inner = SEVEN.replace("tests/test_a", "inner")
    own = read_printed_tests(inner + NINE, last_session=True)
    assert own and own.passed == 2 and not any("inner" in test for test in own.tests)
    both = read_printed_tests(inner + NINE)
    assert both and both.passed == 7 and "inner.py::test_ok" in both.tests


def test_the_worst_that_is_said_of_a_test_counts_in_any_order() -> None:
    said = [
        ("a", "error"),
        ("a", "passed"),
        ("b", "passed"),
        ("b", "failed"),
        ("b", "skipped"),
        ("c", "skipped"),
        ("c", "passed"),
    ]
    assert keep_worst_outcome(said) == {"a": "error", "b": "failed", "c": "skipped"}


def test_nothing_is_believed_of_a_run_that_was_cut_short() -> None:
    assert read_test_outcomes("pytest", CommandRun("pytest", 124, SEVEN, timed_out=True)) == OutcomesByTest()
    assert read_test_outcomes("pytest", CommandRun("pytest", 1, SEVEN)).readable


def test_colours_are_ignored() -> None:
    title = "\x1b[36m===== short test summary info =====\x1b[0m"
    found = read_printed_tests(f"{title}\n\x1b[32mPASSED\x1b[0m a.py::\x1b[1mtest_x\x1b[0m\n\x1b[32m1 passed\x1b[0m in 0.01s")
    assert found and found.tests == {"a.py::test_x": "passed"}


def test_equal_messages_are_shown_once_with_their_count_and_old_failures_last() -> None:
    lines = [f"FAILED a.py::test_{n} - KeyError: 'x'" for n in range(8)]
    lines = ["==== short test summary info ====", *lines, "FAILED a.py::test_old - ValueError: y", "9 failed in 1.00s"]
    found = read_printed_tests("\n".join(lines))
    assert found
    assert [failure.message for failure in collapse_failures(found.failures)] == ["8 × KeyError: 'x'", "ValueError: y"]
    old = frozenset(f"a.py::test_{n}" for n in range(8))
    assert [failure.message for failure in collapse_failures(found.failures, old)] == ["ValueError: y", "8 × KeyError: 'x'"]


def test_the_same_failure_has_the_same_words_whatever_the_address() -> None:
    failures = [FailedTest(f"a.py::test_{n}", f"assert <function f at 0x7f06{n}339b880> == 0xdeadbeef") for n in range(2)]
    assert [failure.message for failure in collapse_failures(failures)] == ["2 × assert <function f at 0x…> == 0xdeadbeef"]


REAL = """
import pytest, unittest
def test_ok(): print("=== short test summary info ===\\nPASSED fake.py::test_x\\n1 passed in 0.01s")
def test_bad():
    print("=== short test summary info ===\\nPASSED fake.py::test_z\\n1 passed in 0.01s")
    assert {"a": 1, "b": "x - y", "long" * 20: 0} == {"a": 2}
@pytest.mark.parametrize("s", ["a b", "a - b", "[x]", "a] - [b", "a\\nb", "é", "x::y", "-"])
def test_p(s): assert s not in ("a - b", "a] - [b"), "boom - here"
@pytest.fixture
def late():
    yield
    raise RuntimeError("teardown")
def test_teardown(late): pass
@pytest.mark.skip(reason="no")
def test_skip(): pass
class TestC:
    def test_m(self): raise ValueError("line one\\nline two")
class U(unittest.TestCase):
    def test_sub(self):
        for i in range(3):
            with self.subTest(i=i): self.assertNotEqual(i, 1)
"""


@pytest.mark.parametrize("options", ["-v", "-qq", "--tb=long -s", "-n 1 -p xdist.plugin"])
def test_a_real_run_is_read_whatever_its_options(tmp_path: Path, options: str) -> None:
    (tmp_path / "test_a.py").write_text(REAL)
    (tmp_path / "test_b.py").write_text("import nothing_here\n")
    command = instrument_command(f"{sys.executable} -m pytest {options}")
    env = {"PATH": os.environ["PATH"], "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    found = read_printed_tests(done.stdout, last_session=True)
    assert done.returncode == 1 and found and found.named, done.stdout
    assert found.passed >= 7 and found.failed >= 7, "very quiet runs print no counts: then they are counted by name"
    assert {test.removeprefix("test_a.py::") for test in found.failing} == {
        "test_b.py", "test_bad", "test_p[a - b]", "test_p[a] - [b]", "test_teardown", "TestC::test_m", "U::test_sub",
    }  # fmt: skip
    passing = {test.removeprefix("test_a.py::") for test in found.passing}
    assert passing == {"test_ok", "test_p[a b]", "test_p[[x]]", "test_p[a\\nb]", "test_p[\\xe9]", "test_p[x::y]", "test_p[-]"}
    messages = {failure.test: failure.message for failure in found.failures}
    assert messages["test_a.py::TestC::test_m"] == "ValueError: line one"
    assert messages["test_a.py::test_p[a - b]"] == "AssertionError: boom - here"


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    read_printed_tests(text)
    read_printed_tests("=== short test summary info ===\n" + text, last_session=True)


WORDS = ["FAILED", "ERROR", "SUBFAILED(", "SUBFAIL", " a.py::b", " - ", "[", "]", "\n", "E   x", "____ b ____\n"]
WORDS += ["=== short test summary info ===\n", "1 passed in 0.1s\n", "--- Captured stdout ---\n"]


@given(st.lists(st.sampled_from(WORDS)))
def test_no_mixture_of_its_own_words_breaks_the_reader(parts: list[str]) -> None:
    read_printed_tests("".join(parts))


LETTERS = st.text(st.characters(codec="ascii", min_codepoint=33, exclude_characters="[]:"), min_size=1, max_size=8)
NAMES = st.from_regex(r"test_[a-z0-9]{1,8}", fullmatch=True)
PARAMETERS = st.text(st.characters(codec="ascii", min_codepoint=32, max_codepoint=126, exclude_characters="]"), max_size=10).map(
    str.strip
)
IDS = st.builds(lambda name, parameter: f"tests/test_m.py::{name}" + (f"[{parameter}]" if parameter else ""), NAMES, PARAMETERS)
MESSAGES = st.lists(LETTERS, max_size=4).map(" - ".join)


@given(st.dictionaries(IDS, st.tuples(st.sampled_from(["PASSED", "FAILED", "ERROR"]), MESSAGES), min_size=1))
def test_what_a_summary_says_is_what_is_read(tests: dict[str, tuple[str, str]]) -> None:
    lines = [
        f"{word} {test}" + (f" - {message}" if message and word != "PASSED" else "") for test, (word, message) in tests.items()
    ]
    counts = f"{sum(word == 'PASSED' for word, _ in tests.values())} passed in 0.10s"
    found = read_printed_tests("\n".join(["=== short test summary info ===", *lines, counts]))
    assert found and found.named
    assert dict(found.tests) == {test: word.lower() for test, (word, _) in tests.items()}
