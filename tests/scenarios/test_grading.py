"""Is the task done? The final grade, and the tests that it protects."""

from pathlib import Path

import pytest
from verification_yard import PROJECT, PYTEST, SUMS, TEST_ADD, TEST_HALF, Yard, begun, make_yard, retyped

from afresh.core.verdict import Ruling

PASS, FAIL, BLOCKED = Ruling.PASS, Ruling.FAIL, Ruling.BLOCKED


def test_nothing_changed_is_not_done(yard: Yard) -> None:
    verdict = yard.grade()
    assert (verdict.ruling, verdict.reason) == (FAIL, "nothing was changed")


@pytest.mark.promise('the agent says "done!" without proof')
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
    own, base = verdict.reason.split("; ")[:2]
    assert own.endswith(": 6 passed") and base.endswith("(full, with the tests of the base): 4 passed"), "the user's check first"


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
}  # fmt: skip


@pytest.mark.parametrize("way", WEAKENED)
def test_a_weakened_test_is_never_a_pass_in_silence(yard: Yard, way: str) -> None:
    """What was added is absent in the court's run; the run as delivered misses the tests that it hides."""
    yard.change("sums.py", "a / 2", "a * 0.5")
    for path, text in WEAKENED[way].items():
        if text is None:
            (yard.folder.root / path).unlink()
        else:
            yard.folder.write(path, text)
    verdict = yard.grade()
    [path] = WEAKENED[way]
    if path in PROJECT:
        assert verdict.ruling is FAIL and verdict.unallowed and verdict.unallowed[0].startswith(path)
        assert "Without these changes: PASS: " in verdict.reason, "and the work passes without them"
    else:
        assert verdict.ruling is FAIL or f"added beside what judges: {path}" in verdict.reason


def test_settings_of_other_tools_and_fixtures_without_reach_are_free(yard: Yard) -> None:
    yard.change("sums.py", "a / 2", "a * 0.5")
    yard.folder.write("pyproject.toml", "[project]\nname = 'sums'\nversion = '1'\n\n[tool.ruff]\nline-length = 100\n")
    yard.folder.write(
        "tests/conftest.py", PROJECT["tests/conftest.py"] + "\nimport pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n"
    )
    yard.folder.write("tests/test_two.py", "def test_two(two):\n    assert two == 2\n")
    verdict = yard.grade()
    assert verdict.ruling is PASS, verdict.reason
    assert [run.passed for run in verdict.runs] == [4, 5], "the new test is absent where all is judged as at the base"


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
    assert retyped(yard, "refactor").grade().ruling is PASS, "a refactoring need not lower it"
    yard.folder.write("sums.py", SUMS + "\n\ndef third(a):\n    return a / 3\n")
    assert retyped(yard, "refactor").grade().ruling is FAIL, "but may not raise it"
    yard.folder.write("sums.py", "def add(a, b):\n    return a + b\n\n\nhalf = lambda a: a / 2\n")
    verdict = yard.grade()
    assert verdict.ruling is PASS and verdict.reason.endswith("2 → 1") and verdict.measure == 1


def test_nothing_to_fix_is_no_success(yard: Yard) -> None:
    yard = retyped(yard, "fix_violation")
    yard.change("sums.py", "a / 2", "a * 0.5")
    assert yard.grade().ruling is FAIL
