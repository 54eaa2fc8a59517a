"""What counts as weakening, file by file."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.change import Change
from afresh.core.recognise_test_files import is_in_test_folder, is_test_code
from afresh.core.task import Check
from afresh.verification.check_configuration import find_changed_settings, is_check_configuration
from afresh.verification.protected_tests import has_tests_in_scope, is_protected_path
from afresh.verification.weakened_python_tests import find_weakened_python_tests

BASE = '"""Doc."""\nimport a\n\nX = 1\n\n\ndef test_a():\n    """Doc."""\n    assert a.f(X)\n\n\n'
BASE += "class TestB:\n    n = 2\n\n    def test_b(self):\n        assert 1\n"
PYTEST, RUFF = Check("pytest -q"), Check("ruff check src")


@pytest.mark.parametrize(
    "now",
    [
        BASE,
        BASE.replace("Doc.", "Other words."),
        BASE.replace('    """Doc."""\n', ""),
        BASE.replace("X = 1", "X   =   1  # the same"),
        BASE.replace("import a", "import a\nimport b"),
        BASE + "\n    def test_c(self):\n        assert 0\n",
        BASE + "\n\ndef test_d():\n    assert 0\n\n\nclass TestE:\n    pass\n",
        BASE.replace("def test_a", "import pytest\n\n\n@pytest.mark.skip\ndef test_new():\n    assert 0\n\n\ndef test_a"),
    ],
)
def test_additions_and_layout_are_free(now: str) -> None:
    assert find_weakened_python_tests("t.py", BASE, now) == ()


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (BASE.replace("assert a.f(X)", "assert True"), "test_a was altered so that it is skipped or asserts nothing"),
        (BASE.replace("def test_a()", "def test_a(patched)"), "test_a was altered"),
        (BASE.replace("def test_a", "@skip\ndef test_a"), "test_a was altered"),
        (BASE.replace("def test_a", "def helper_a"), "test_a was removed"),
        (BASE.replace("X = 1", "X = 2"), "`X = 1` was altered"),
        (BASE.replace("class TestB:", "@skip\nclass TestB:"), "the head of class TestB was altered"),
        (BASE.replace("class TestB:", "class TestB(Base):"), "the head of class TestB was altered"),
        (BASE.replace("class TestB:", "class B:"), "class TestB was removed"),
        (BASE.replace("n = 2", "n = 3"), "TestB.`n = 2` was altered"),
        (BASE.replace("assert 1", "pass"), "TestB.test_b was altered"),
        (BASE + "\n    test_b = None\n", "TestB.test_b was reassigned"),
        (BASE + "\n\nfor test_a in [None]:\n    pass\n", "test_a was reassigned"),
        (BASE + "\nif True:\n    del test_a\n", "test_a was reassigned"),
        (BASE + "\npytestmark = []\n", "pytestmark was reassigned"),
        (BASE + "\nraise unittest.SkipTest('x')\n", "was added at module level"),
    ],
)
def test_each_weakening_is_named(now: str, told: str) -> None:
    assert any(told in finding.told for finding in find_weakened_python_tests("t.py", BASE, now)), find_weakened_python_tests(
        "t.py", BASE, now
    )


@given(st.integers(0, 3), st.integers(0, 3))
def test_any_statement_that_is_taken_out_is_missed(first: int, second: int) -> None:
    body = ast.parse(BASE).body[1:]
    kept = [statement for at, statement in enumerate(body) if at not in (first, second)]
    now = "\n".join(ast.unparse(statement) for statement in kept)
    lost = {first, second} - {0}
    assert bool(find_weakened_python_tests("t.py", BASE, now)) == bool(lost)


REACHING = [
    "def pytest_runtest_setup(): pass",
    "import x\nx.f = 1",
    "import builtins\nsetattr(builtins, 'a', 1)",
    "pytest_plugins = ['x']",
    "@fixture(autouse=True)\ndef f(): pass",
    "import os\nos.environ['A'] = 'b'",
]


def test_a_conftest_may_add_fixtures_but_nothing_that_reaches_tests_by_itself() -> None:
    harmless = "import pytest\nROOT = 1\n\n\n@pytest.fixture\ndef one():\n    return 1\n"
    assert find_weakened_python_tests("conftest.py", "", harmless) == ()
    for text in REACHING:
        assert find_weakened_python_tests("conftest.py", "", text), text
        assert find_weakened_python_tests("conftest.py", text, text) == (), "what was there at the base stays"


def lines(*added: str, removed: int = 0, path: str = "src/a.test.ts") -> Change:
    return Change(path, "modified", len(added), removed, "\n".join(["--- a", "+++ b", *("+" + line for line in added)]))


@pytest.mark.parametrize(
    ("path", "base", "now", "check", "counts"),
    [
        ("pytest.ini", None, "[pytest]\n", RUFF, True),
        ("tox.ini", "[tox]\nenvlist = a\n", "[tox]\nenvlist = b\n", PYTEST, False),
        ("tox.ini", "[pytest]\n", "[pytest]\naddopts = -x\n", PYTEST, True),
        ("tox.ini", "[testenv]\ncommands = pytest\n", "[testenv]\ncommands = true\n", Check("tox -e py"), True),
        ("setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = b\n", PYTEST, False),
        ("setup.cfg", "[tool:pytest]\na = 1\n", "[metadata]\nname = a\n", PYTEST, True),
        ("pyproject.toml", "[project]\nname = 'a'\n", "[project]\nname = 'b'\n", PYTEST, False),
        ("pyproject.toml", "[tool.ruff]\nx = 1\n", "[tool.ruff]\nx = 2\n", PYTEST, False),
        ("pyproject.toml", "[tool.ruff]\nx = 1\n", "[tool.ruff]\nx = 2\n", RUFF, True),
        ("pyproject.toml", "", "[tool.pytest.ini_options]\naddopts = ''\n", PYTEST, True),
        ("pyproject.toml", "[project]\n", "[project\n", PYTEST, True),
        ("ruff.toml", None, "x = 1\n", RUFF, True),
        ("package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {"test": "true"}}', Check("yarn test"), True),
        ("package.json", '{"scripts": {"a": "b"}}', '{"scripts": {"a": "c"}}', PYTEST, False),
        ("package.json", '{"version": "1"}', '{"version": "2"}', Check("npm test"), False),
        ("ci/check.sh", "pytest\n", "true\n", Check("sh ci/check.sh"), True),
    ],
)
def test_settings_that_judge_the_task_are_not_its_own(path: str, base: str, now: str, check: Check, counts: bool) -> None:
    assert is_check_configuration(path, [check])
    assert bool(find_changed_settings(path, base, now, [check])) is counts


def test_a_setting_bears_on_the_tests_below_it() -> None:
    tests = frozenset({"tests/unit/test_a.py"})
    assert has_tests_in_scope("conftest.py", tests) and has_tests_in_scope("tests/conftest.py", tests)
    assert not has_tests_in_scope("tests/data/project/pytest.ini", tests)


@pytest.mark.parametrize(
    "path",
    [
        "test_a.py",
        "a_test.py",
        "x/tests.py",
        "conftest.py",
        "tests/helper.py",
        "a/tests/b/c.py",
        "test/helper.py",
        "web/a.test.ts",
        "web/a.spec.jsx",
        "go/a_test.go",
        "src/ATest.java",
        "lib/a_spec.rb",
        "__tests__/a.js",
    ],
)
def test_tests_are_known_by_name_or_place(path: str) -> None:
    assert is_test_code(path) and is_protected_path(path)


@pytest.mark.parametrize(
    "path",
    ["a.py", "contest.py", "attest.py", "testing/a.py", "django/test/client.py", "src/latest.ts", "docs/tests.md"],
)
def test_other_files_are_not(path: str) -> None:
    assert not is_test_code(path)


def test_what_tests_read_is_protected_but_is_no_test() -> None:
    assert (
        is_in_test_folder("tests/data/expected.json")
        and is_protected_path("tests/data/expected.json")
        and not is_test_code("tests/data/expected.json")
    )
