"""Verification from end to end, with real pytest runs in real folders."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from verification_yard import PYTEST, SUMS, TEST_ADD, TEST_HALF, Yard, begun, impatient, make_yard, retyped

from afresh.core.verdict import NoteKind, Ruling, summarise_check_run
from afresh.verification.baseline import find_baseline_blocker

TEST_THIRD = "import sums\n\n\ndef test_third():\n    assert sums.third(9) == 3\n"
PASS, FAIL, BLOCKED = Ruling.PASS, Ruling.FAIL, Ruling.BLOCKED


def test_a_regression_is_caught_by_the_targeted_tests_alone(yard: Yard) -> None:
    yard.insight.tests = ("tests/test_half.py",)
    yard.change("sums.py", "a / 2", "a / 3")
    verdict = yard.step("sums.py")
    assert (verdict.ruling, verdict.regressions) == (FAIL, ("tests/test_half.py::test_half",))
    [run] = verdict.runs
    assert (run.scope, run.passed, run.failed) == ("targeted: tests/test_half.py", 0, 1)
    assert run.failures[0].message.startswith("assert 1.33")
    assert "test_half.py:5" in run.failures[0].detail
    assert "targeted: tests/test_half.py): 1 failed" in summarise_check_run(run)


def make_package(root: Path) -> Yard:
    """Whose tests can be imported only if pytest collects its doctests, too."""
    files = {
        "sums/__init__.py": '"""\n>>> 1 + 1\n2\n"""\n\n' + SUMS,
        "test/test_add.py": TEST_ADD,
        "test/test_half.py": TEST_HALF,
    }
    check = f"{Path(sys.executable).parent}/pytest -q --doctest-modules"
    yard = make_yard(root, files, checks=[check])
    yard.baseline()
    yard.insight.tests = ("test/test_half.py", "test/test_third.py")
    return yard


def test_what_fails_in_single_files_without_the_change_too_undoes_nothing(tmp_path: Path) -> None:
    yard = make_package(tmp_path)
    yard.change("sums/__init__.py", "a / 2", "a * 0.5\n\n\ndef third(a):\n    return a / 3")
    yard.folder.write("test/test_third.py", TEST_THIRD)
    kept = yard.step("sums/__init__.py", "test/test_third.py")
    assert kept.ruling is PASS and [run.scope for run in kept.runs] == ["full"], kept.reason
    assert "is run whole: alone, its tests fail without the change, too" in kept.reason
    done = yard.grade()
    assert (done.ruling, done.new_tests, done.list_facts(NoteKind.UNPROVEN)) == (PASS, 1, ()), done.reason
    yard.folder.write("test/test_idle.py", "import sums\n\n\ndef test_idle():\n    assert sums.half(4) == 2\n")
    assert yard.grade().list_facts(NoteKind.UNPROVEN) == ("test/test_idle.py::test_idle",)
    yard.change("sums/__init__.py", "a * 0.5", "a * 0.3")
    undone = yard.step("sums/__init__.py")
    assert undone.ruling is FAIL and undone.regressions == ("test/test_half.py::test_half",)


def test_tests_that_the_task_wrote_in_an_earlier_step_come_first_into_each_selection(yard: Yard) -> None:
    yard.folder.write("tests/test_new.py", TEST_HALF.replace("def test_half", "def test_new"))
    state = yard.context.state
    yard.context = replace(
        yard.context, state=replace(state, workspace=replace(state.workspace, changed=("tests/test_new.py", "sums.py")))
    )
    yard.insight.tests = ("tests/test_add.py", "tests/test_half.py", "tests/test_new.py")
    yard.change("sums.py", "a / 2", "a * 0.5")
    [run] = yard.step("sums.py").runs
    assert (run.scope, run.passed) == ("targeted: tests/test_new.py, tests/test_add.py and 1 more", 5)


def test_a_harmless_change_passes_and_every_check_that_is_no_pytest_runs_whole(tmp_path: Path) -> None:
    yard = begun(tmp_path, {}, checks=(PYTEST, "grep -q def sums.py"))
    yard.insight.tests = ("tests/test_half.py",)
    yard.change("sums.py", "a / 2", "a * 0.5")
    verdict = yard.step("sums.py")
    assert verdict.ruling is PASS
    assert [run.scope for run in verdict.runs] == ["targeted: tests/test_half.py", "full"]
    yard.folder.write("sums.py", "half = lambda a: a / 2\nadd = lambda a, b: a + b\n")
    verdict = yard.step("sums.py")
    assert verdict.ruling is FAIL and "exits 1" in verdict.reason


def test_without_known_tests_or_with_a_changed_conftest_the_whole_check_runs(yard: Yard) -> None:
    yard.change("sums.py", "a / 2", "a * 0.5")
    assert [run.scope for run in yard.step("sums.py").runs] == ["full"]
    yard.insight.tests = ("tests/test_half.py",)
    assert [run.scope for run in yard.step("tests/conftest.py").runs] == ["full"]


def test_a_step_without_change_runs_nothing(yard: Yard) -> None:
    yard.shell.commands.clear()
    assert yard.step().runs == () and yard.shell.commands == []


def test_a_file_that_does_not_compile_fails_before_any_test(yard: Yard) -> None:
    yard.shell.commands.clear()
    yard.change("sums.py", "return a / 2", "return a /")
    verdict = yard.step("sums.py")
    assert verdict.ruling is FAIL and "SyntaxError" in verdict.reason and "line 6" in verdict.reason
    assert not any("pytest" in command for command in yard.shell.commands)
    assert yard.grade().ruling is FAIL


def test_a_deleted_file_is_not_compiled(yard: Yard) -> None:
    (yard.folder.root / "tests/test_half.py").unlink()
    assert "compile" not in yard.step("tests/test_half.py").reason


def test_a_broken_import_is_a_regression_of_the_files_that_need_it(yard: Yard) -> None:
    yard.change("sums.py", "def add", "import no_such_thing\n\n\ndef add")
    verdict = yard.step("sums.py")
    assert verdict.ruling is FAIL
    assert verdict.regressions == ("tests/test_add.py", "tests/test_half.py")
    assert "2 × ModuleNotFoundError: No module named 'no_such_thing'" in verdict.runs[0].failures[0].message


def test_a_conftest_that_breaks_the_whole_run_fails_by_exit_code(yard: Yard) -> None:
    yard.folder.write("tests/conftest.py", "raise RuntimeError('no')\n")
    verdict = yard.step("tests/conftest.py")
    assert verdict.ruling is FAIL and "no test result can be read" in verdict.reason


def test_a_product_that_ends_the_interpreter_with_zero_does_not_pass(yard: Yard) -> None:
    yard.folder.write("sums.py", "import os\nos._exit(0)\n")
    assert yard.step("sums.py").ruling is FAIL
    assert yard.grade().ruling is FAIL


def test_flaky_tests_are_listed_and_decide_nothing(tmp_path: Path) -> None:
    moody = (
        "import pathlib\n\n\ndef test_moody():\n    count = pathlib.Path(__file__).parent / '__pycache__' / 'count'\n"
        "    count.parent.mkdir(exist_ok=True)\n    seen = int(count.read_text()) if count.exists() else 0\n"
        "    count.write_text(str(seen + 1))\n    assert seen == 1\n"
    )
    yard = begun(tmp_path, {"tests/test_moody.py": moody})
    assert yard.context.state.verification.baseline and yard.context.state.verification.baseline.flaky == (
        "tests/test_moody.py::test_moody",
    )
    yard.change("sums.py", "a / 2", "a * 0.5")
    for verdict in (yard.step("sums.py"), yard.grade()):
        assert verdict.runs[0].exit == 1, "it does fail this time"
        assert verdict.ruling is PASS and "flaky, deciding nothing: tests/test_moody.py::test_moody" in verdict.reason


def test_a_flaky_command_decides_nothing_and_alone_verifies_nothing(tmp_path: Path) -> None:
    moody = "test -e seen && { rm seen; exit 1; }; touch seen"
    yard = begun(tmp_path, {}, checks=(moody, PYTEST))
    assert yard.context.state.verification.baseline and yard.context.state.verification.baseline.flaky == (moody,)
    yard.change("sums.py", "a / 2", "a * 0.5")
    assert "flaky" in yard.step("sums.py").reason
    alone = begun(tmp_path / "alone", {}, checks=(moody,))
    assert "two answers" in find_baseline_blocker(alone.context.state.task, alone.context.state.verification.baseline)  # type: ignore[arg-type]


def test_a_check_that_hangs_is_killed_and_the_task_can_not_be_verified(tmp_path: Path) -> None:
    yard = begun(tmp_path, {"tests/test_hang.py": "import time\n\n\ndef test_hang():\n    time.sleep(60)\n"}, timeout=2)
    baseline = yard.context.state.verification.baseline
    assert baseline and baseline.runs[0].timed_out
    assert "did not end within 2 s" in find_baseline_blocker(yard.context.state.task, baseline)
    assert "timed out" in summarise_check_run(baseline.runs[0])
    verdict = yard.grade()
    assert verdict.ruling is BLOCKED and verdict.final


def test_a_change_that_makes_the_check_hang_fails(tmp_path: Path) -> None:
    yard = impatient(begun(tmp_path, {}), 2)
    yard.folder.write("sums.py", "import time\ntime.sleep(60)\n")
    verdict = yard.step("sums.py")
    assert verdict.ruling is FAIL and verdict.runs[0].timed_out and "timed out" in verdict.reason


def test_tests_that_fail_already_are_held_against_neither_a_step_nor_the_end(tmp_path: Path) -> None:
    yard = begun(tmp_path, {"tests/test_bug.py": "import sums\n\n\ndef test_bug():\n    assert sums.half(3) == 1\n"})
    yard.change("sums.py", "def add", "# a comment\ndef add")
    verdict = yard.step("sums.py")
    assert (
        verdict.ruling is PASS and "1 test failed before the task and still fails: tests/test_bug.py::test_bug" in verdict.reason
    )
    final = yard.grade()
    assert (
        final.ruling is PASS
        and final.still_failing == "1 test failed before the task and still fails: tests/test_bug.py::test_bug"
    )
    assert final.remarks == "nothing has turned green: the checks show that nothing broke, not that the work is done"
    yard.change("sums.py", "a / 2", "a // 2")
    assert yard.grade().still_failing == "" and "nothing has turned green" not in yard.grade().remarks


def test_beside_red_tests_a_bug_is_fixed_only_if_one_of_them_or_a_new_test_shows_it(tmp_path: Path) -> None:
    red = "import sums\n\n\ndef test_bug():\n    assert sums.half(3) == 1\n\n\ndef test_old():\n    assert 0\n"
    yard = retyped(begun(tmp_path, {"tests/test_bug.py": red}), "fix_bug")
    yard.change("sums.py", "def add", "# a comment\ndef add")
    yard.folder.write("tests/test_idle.py", "def test_idle():\n    assert 1\n")
    refused = yard.grade()
    assert refused.ruling is FAIL and refused.final
    assert "nothing shows that the bug is fixed" in refused.reason and "add a test that fails without" in refused.reason
    yard.change("sums.py", "a / 2", "a // 2")
    mended = yard.grade()
    assert mended.ruling is PASS and mended.still_failing.endswith("tests/test_bug.py::test_old")
    yard.change("sums.py", "a // 2", "a / 2\n\n\ndef third(a):\n    return a / 3")
    yard.folder.write("tests/test_third.py", "import sums\n\n\ndef test_third():\n    assert sums.third(3) == 1\n")
    assert yard.grade().ruling is PASS


def test_a_failing_test_that_is_new_is_told_but_is_no_regression_and_still_stops_the_end(yard: Yard) -> None:
    yard.folder.write("tests/test_new.py", "def test_new():\n    assert 0\n")
    yard.insight.tests = ("tests/test_new.py",)
    verdict = yard.step("tests/test_new.py")
    assert verdict.ruling is PASS and "1 new test fails: tests/test_new.py::test_new" in verdict.reason
    assert yard.grade().ruling is FAIL


def test_without_checks_nothing_can_be_verified(tmp_path: Path) -> None:
    yard = begun(tmp_path, {}, checks=())
    yard.change("sums.py", "a / 2", "a * 0.5")
    for verdict in (yard.step("sums.py"), yard.grade()):
        assert verdict.ruling is BLOCKED and "no checks were given" in verdict.reason and "--check" in verdict.reason


def test_a_project_without_any_test_is_judged_by_exit_code_and_never_green_by_pytest(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, {"sums.py": SUMS})
    baseline = yard.baseline()
    assert baseline.runs[0].exit == 5
    yard.change("sums.py", "a / 2", "a * 0.5")
    assert yard.step("sums.py").ruling is PASS
    assert yard.grade().ruling is FAIL
    yard.folder.write("test_sums.py", "import sums\n\n\ndef test_half():\n    assert sums.half(4) == 2\n")
    assert yard.grade().ruling is PASS


@pytest.mark.parametrize("command", ["no-such-program-here -q", f"{sys.executable} -S -m pytest"])
def test_a_check_whose_program_is_missing_blocks_at_once(tmp_path: Path, command: str) -> None:
    yard = begun(tmp_path, {}, checks=(command,))
    assert "can't run" in find_baseline_blocker(yard.context.state.task, yard.context.state.verification.baseline)  # type: ignore[arg-type]


def test_unittest_projects_are_judged_by_test_name(tmp_path: Path) -> None:
    tests = "    def test_half(self):\n        self.assertEqual(sums.half(4), 2)\n\n    def test_other(self):\n        pass\n"
    case = f"import unittest\n\nimport sums\n\n\nclass Case(unittest.TestCase):\n{tests}"
    yard = make_yard(tmp_path, {"sums.py": SUMS, "test_case.py": case}, checks=(f"{sys.executable} -m unittest",))
    baseline = yard.baseline()
    assert "test_case.Case.test_half" in yard.archive.read(baseline.runs[0].tests)
    yard.change("sums.py", "a / 2", "a / 3")
    assert yard.step("sums.py").regressions == ("test_case.Case.test_half",)
    yard.folder.write("sums.py", "import no_such_thing\n")
    assert yard.step("sums.py").regressions == ("unittest.loader._FailedTest.test_case",)
    yard.folder.write("sums.py", SUMS + "# fine\n")
    assert yard.grade().ruling is PASS
