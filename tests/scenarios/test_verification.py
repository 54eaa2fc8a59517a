"""Verification from end to end, with real pytest runs in real folders."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from verification_yard import PYTEST, Yard, make_yard

from afresh.domain.fact import Block
from afresh.domain.verdict import Baseline, Ruling
from afresh.engine.verify import blocker, summary, take_baseline

PASS, FAIL, BLOCKED = Ruling.PASS, Ruling.FAIL, Ruling.BLOCKED

SUMS = "def add(a, b):\n    return a + b\n\n\ndef half(a):\n    return a / 2\n"
TEST_ADD = (
    '"""Sums."""\nimport sums\n\nLIMIT = 3\n\n\ndef test_add():\n    """Adds."""\n    assert sums.add(1, 2) == LIMIT\n\n\n'
    "class TestMore:\n    def test_negative(self):\n        assert sums.add(-1, 1) == 0\n\n"
    "    def test_zero(self):\n        assert sums.add(0, 0) == 0\n"
)
TEST_HALF = "import sums\n\n\ndef test_half():\n    assert sums.half(4) == 2\n"
PROJECT = {
    "sums.py": SUMS,
    "tests/test_add.py": TEST_ADD,
    "tests/test_half.py": TEST_HALF,
    "tests/conftest.py": "import sys\nsys.path.insert(0, '.')\n",
}


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> tuple[Baseline, tuple[Block, ...]]:
    return take_baseline(make_yard(tmp_path_factory.mktemp("project"), PROJECT).bench)


@pytest.fixture
def yard(tmp_path: Path, taken: tuple[Baseline, tuple[Block, ...]]) -> Yard:
    yard = make_yard(tmp_path, PROJECT)
    yard.begin(*taken)
    return yard


def begun(root: Path, files: dict[str, str], **options: object) -> Yard:
    yard = make_yard(root, {**PROJECT, **files}, **options)  # type: ignore[arg-type]
    yard.baseline()
    return yard


def retyped(yard: Yard, type: str) -> Yard:
    """The same task, of another type."""
    task = replace(yard.bench.state.task, type=type)
    return replace(yard, bench=replace(yard.bench, state=replace(yard.bench.state, task=task)))


def test_a_regression_is_caught_by_the_targeted_tests_alone(yard: Yard) -> None:
    yard.insight.tests = ("tests/test_half.py",)
    yard.change("sums.py", "a / 2", "a / 3")
    verdict = yard.step("sums.py")
    assert (verdict.ruling, verdict.regressions) == (FAIL, ("tests/test_half.py::test_half",))
    [run] = verdict.runs
    assert (run.scope, run.passed, run.failed) == ("targeted: tests/test_half.py", 0, 1)
    assert run.failures[0].message.startswith("assert 1.33")
    assert "test_half.py:5" in run.failures[0].detail
    assert "targeted: tests/test_half.py): 1 failed in" in summary(run)


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
    assert yard.bench.state.baseline and yard.bench.state.baseline.flaky == ("tests/test_moody.py::test_moody",)
    yard.change("sums.py", "a / 2", "a * 0.5")
    for verdict in (yard.step("sums.py"), yard.grade()):
        assert verdict.runs[0].exit == 1, "it does fail this time"
        assert verdict.ruling is PASS and "flaky, deciding nothing: tests/test_moody.py::test_moody" in verdict.reason


def test_a_flaky_command_decides_nothing_and_alone_verifies_nothing(tmp_path: Path) -> None:
    moody = "test -e seen && { rm seen; exit 1; }; touch seen"
    yard = begun(tmp_path, {}, checks=(moody, PYTEST))
    assert yard.bench.state.baseline and yard.bench.state.baseline.flaky == (moody,)
    yard.change("sums.py", "a / 2", "a * 0.5")
    assert "flaky" in yard.step("sums.py").reason
    alone = begun(tmp_path / "alone", {}, checks=(moody,))
    assert "two answers" in blocker(alone.bench.state.task, alone.bench.state.baseline)  # type: ignore[arg-type]


def test_a_check_that_hangs_is_killed_and_the_task_can_not_be_verified(tmp_path: Path) -> None:
    yard = begun(tmp_path, {"tests/test_hang.py": "import time\n\n\ndef test_hang():\n    time.sleep(60)\n"}, timeout=2)
    baseline = yard.bench.state.baseline
    assert baseline and baseline.runs[0].timed_out
    assert "did not end within 2 s" in blocker(yard.bench.state.task, baseline)
    assert "timed out" in summary(baseline.runs[0])
    verdict = yard.grade()
    assert verdict.ruling is BLOCKED and verdict.final


def test_a_change_that_makes_the_check_hang_fails(tmp_path: Path) -> None:
    yard = begun(tmp_path, {}, timeout=4)
    yard.folder.write("sums.py", "import time\ntime.sleep(60)\n")
    verdict = yard.step("sums.py")
    assert verdict.ruling is FAIL and verdict.runs[0].timed_out and "timed out" in verdict.reason


def test_tests_that_fail_already_are_not_held_against_a_step_but_are_against_the_end(tmp_path: Path) -> None:
    yard = begun(tmp_path, {"tests/test_bug.py": "import sums\n\n\ndef test_bug():\n    assert sums.half(3) == 1\n"})
    yard.change("sums.py", "def add", "# a comment\ndef add")
    verdict = yard.step("sums.py")
    assert verdict.ruling is PASS and "1 test failed already before: tests/test_bug.py::test_bug" in verdict.reason
    final = yard.grade()
    assert final.ruling is FAIL and "failed before the task began and still fails: tests/test_bug.py::test_bug" in final.reason
    yard.change("sums.py", "a / 2", "a // 2")
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
    assert "can't run" in blocker(yard.bench.state.task, yard.bench.state.baseline)  # type: ignore[arg-type]


def test_nothing_changed_is_not_done(yard: Yard) -> None:
    verdict = yard.grade()
    assert (verdict.ruling, verdict.reason) == (FAIL, "nothing was changed")


def test_a_review_may_end_without_a_change(yard: Yard) -> None:
    assert retyped(yard, "code_review").grade().ruling is PASS


def test_an_honest_change_passes_with_evidence(yard: Yard) -> None:
    yard.change("sums.py", "a / 2", "a * 0.5")
    verdict = yard.grade()
    assert (verdict.ruling, verdict.final) == (PASS, True)
    [run] = verdict.runs
    assert (run.exit, run.passed, run.scope) == (0, 4, "full")
    assert "4 passed" in yard.archive.read(run.block)
    assert '"tests/test_half.py::test_half":"passed"' in yard.archive.read(run.tests)


def test_honest_additions_to_a_test_file_pass_and_the_base_tests_are_run_as_they_were(yard: Yard) -> None:
    yard.change("sums.py", "a / 2", "a * 0.5")
    more = (
        TEST_ADD.replace("Adds.", "Adds two.")
        + "\n    def test_big(self):\n        assert sums.add(9, 9) == 18\n\n\ndef test_more():\n    assert 1\n"
    )
    yard.folder.write("tests/test_add.py", "import os\n" + more)
    verdict = yard.grade()
    assert verdict.ruling is PASS, verdict.reason
    assert [(run.scope, run.passed) for run in verdict.runs] == [("full, with the tests of the base", 4), ("full", 6)]


def altered(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


HOOK = "\n\ndef pytest_collection_modifyitems(items):\n    items.clear()\n"
WEAKENED = {
    "a test deleted": {"tests/test_add.py": TEST_ADD[: TEST_ADD.index("    def test_zero")]},
    "a test file deleted": {"tests/test_half.py": None},
    "an assertion altered": {"tests/test_add.py": altered(TEST_ADD, "== 0", ">= 0")},
    "a constant altered": {"tests/test_add.py": altered(TEST_ADD, "LIMIT = 3", "LIMIT = 4")},
    "a skip marker": {"tests/test_half.py": altered(TEST_HALF, "def test", "import pytest\n\n\n@pytest.mark.skip\ndef test")},
    "an xfail marker": {"tests/test_half.py": altered(TEST_HALF, "def test", "import pytest\n\n\n@pytest.mark.xfail\ndef test")},
    "pytestmark": {"tests/test_half.py": TEST_HALF + "\nimport pytest\npytestmark = pytest.mark.skip\n"},
    "a module-level skip": {"tests/test_half.py": TEST_HALF + "\nimport pytest\npytest.skip('x', allow_module_level=True)\n"},
    "a test shadowed": {"tests/test_half.py": TEST_HALF + "\n\ndef test_half():\n    pass\n"},
    "a test rebound": {"tests/test_half.py": TEST_HALF + "\n\ntest_half = lambda: None\n"},
    "a test taken away": {"tests/test_half.py": TEST_HALF + "\n\ndel test_half\n"},
    "a class switched off": {"tests/test_add.py": TEST_ADD + "\n    __test__ = False\n"},
    "collect_ignore": {"tests/conftest.py": PROJECT["tests/conftest.py"] + "collect_ignore = ['test_half.py']\n"},
    "a hook in an old conftest": {"tests/conftest.py": PROJECT["tests/conftest.py"] + HOOK},
    "a hook in a new conftest": {"conftest.py": HOOK},
    "a module replaced in a new conftest": {"conftest.py": "import sys, types\nsys.modules['sums'] = types.SimpleNamespace()\n"},
    "a patch in a new conftest": {"conftest.py": "import sums\nsums.half = lambda a: 2\n"},
    "an autouse fixture": {"conftest.py": "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef calm(monkeypatch):\n    pass\n"},
    "pytest.ini": {"pytest.ini": "[pytest]\naddopts = --deselect tests/test_half.py::test_half\n"},
    "pyproject": {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-k add'\n"},
    "setup.cfg": {"setup.cfg": "[tool:pytest]\naddopts = -k add\n"},
    "a module in place of pytest": {"pytest.py": "raise SystemExit(0)\n"},
}  # fmt: skip


@pytest.mark.parametrize("way", WEAKENED)
def test_a_weakened_test_is_never_a_pass(yard: Yard, way: str) -> None:
    yard.change("sums.py", "a / 2", "a * 0.5")
    for path, text in WEAKENED[way].items():
        if text is None:
            (yard.folder.root / path).unlink()
        else:
            yard.folder.write(path, text)
    yard.shell.commands.clear()
    verdict = yard.grade()
    assert verdict.ruling is FAIL and "weakened" in verdict.reason and next(iter(WEAKENED[way])) in verdict.reason
    assert yard.shell.commands == []


def test_settings_of_other_tools_and_fixtures_without_reach_are_free(yard: Yard) -> None:
    yard.change("sums.py", "a / 2", "a * 0.5")
    yard.folder.write("pyproject.toml", "[project]\nname = 'sums'\nversion = '1'\n\n[tool.ruff]\nline-length = 100\n")
    yard.folder.write(
        "tests/conftest.py", PROJECT["tests/conftest.py"] + "\nimport pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n"
    )
    yard.folder.write("tests/test_two.py", "def test_two(two):\n    assert two == 2\n")
    verdict = yard.grade()
    assert verdict.ruling is PASS, verdict.reason
    assert [run.exit for run in verdict.runs] == [1, 0], (
        "with the base's conftest the new test has no fixture, and that decides nothing"
    )


def test_an_addition_that_shields_the_product_from_old_tests_is_found_by_running_them_as_they_were(yard: Yard) -> None:
    yard.change("sums.py", "a / 2", "a / 3")
    yard.folder.write("tests/test_half.py", altered(TEST_HALF, "import sums\n", "import fake as sums\n"))
    yard.folder.write("tests/fake.py", "def half(a):\n    return a / 2\n")
    verdict = yard.grade()
    assert verdict.ruling is FAIL and verdict.regressions == ("tests/test_half.py::test_half",)


def test_a_makefile_that_no_longer_tests_is_a_weakening(tmp_path: Path) -> None:
    yard = begun(tmp_path, {"Makefile": f"test:\n\t{PYTEST}\n"}, checks=("make -s test",))
    yard.change("sums.py", "a / 2", "a * 0.5")
    assert yard.grade().ruling is PASS
    yard.folder.write("Makefile", "test:\n\ttrue\n")
    verdict = yard.grade()
    assert verdict.ruling is FAIL and "Makefile" in verdict.reason


def test_a_makefile_that_the_task_is_to_write_is_its_own(tmp_path: Path) -> None:
    yard = begun(tmp_path, {}, checks=("make -s hello",))
    yard.folder.write("Makefile", "hello:\n\techo hello\n")
    verdict = yard.grade()
    assert verdict.ruling is PASS, verdict.reason


def test_a_test_that_skips_itself_by_what_the_product_does_is_missed(tmp_path: Path) -> None:
    skip = "    if not hasattr(sums, 'half'):\n        pytest.skip('no half')\n"
    bug = f"import pytest\nimport sums\n\n\ndef test_bug():\n{skip}    assert sums.half(3) == 1\n"
    yard = begun(tmp_path, {"tests/test_bug.py": bug, "tests/test_half.py": "def test_nothing():\n    pass\n"})
    yard.folder.write("sums.py", "def add(a, b):\n    return a + b\n")
    verdict = yard.grade()
    assert verdict.ruling is FAIL and "skipped or gone" in verdict.reason and "test_bug" in verdict.reason


def test_writing_tests_may_alter_tests_but_not_lose_what_they_found(yard: Yard) -> None:
    yard = retyped(yard, "write_tests")
    yard.folder.write("tests/test_half.py", altered(TEST_HALF, "test_half", "test_halving"))
    yard.folder.write("tests/test_third.py", "import sums\n\n\ndef test_odd():\n    assert sums.half(3) == 1.5\n")
    assert yard.grade().ruling is PASS
    yard.change("sums.py", "a / 2", "a * 0")
    yard.folder.write("tests/test_half.py", "def test_half():\n    pass\n")
    yard.folder.write("tests/test_third.py", "def test_odd():\n    pass\n")
    verdict = yard.grade()
    assert verdict.ruling is FAIL and verdict.regressions == ("tests/test_half.py::test_half",)


def test_writing_tests_without_a_new_test_is_not_done(yard: Yard) -> None:
    yard = retyped(yard, "write_tests")
    yard.folder.write("sums.py", SUMS + "# changed\n")
    verdict = yard.grade()
    assert verdict.ruling is FAIL and "no new test was written" in verdict.reason


def test_writing_tests_does_not_excuse_deselecting_others(yard: Yard) -> None:
    yard = retyped(yard, "write_tests")
    yard.folder.write("tests/test_third.py", "def test_odd():\n    pass\n")
    yard.folder.write("pytest.ini", "[pytest]\naddopts = --deselect tests/test_half.py::test_half\n")
    verdict = yard.grade()
    assert verdict.ruling is FAIL and "tests/test_half.py::test_half" in verdict.reason


def test_a_measure_must_be_lower_than_at_the_start(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, {"sums.py": SUMS}, checks=("true",), type="fix_violation")
    yard.insight.measured = "return"
    assert yard.baseline().measure == 2
    yard.change("sums.py", "def add", "# same\ndef add")
    verdict = yard.grade()
    assert verdict.ruling is FAIL and "2 -> 2" in verdict.reason
    yard.folder.write("sums.py", "def add(a, b):\n    return a + b\n\n\nhalf = lambda a: a / 2\n")
    verdict = yard.grade()
    assert verdict.ruling is PASS and verdict.reason.endswith("2 -> 1") and verdict.measure == 1


def test_nothing_to_fix_is_no_success(yard: Yard) -> None:
    yard = retyped(yard, "fix_violation")
    yard.change("sums.py", "a / 2", "a * 0.5")
    assert yard.grade().ruling is BLOCKED


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
