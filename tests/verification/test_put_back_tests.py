"""What is only added to tests is free, what is weakened is put back alone, and all else in the file stays."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.licences.licence_for_tests import WeakeningWay
from afresh.core.task import Check
from afresh.verification.protected_tests import find_weakening_settings
from afresh.verification.put_back_tests import put_back_section, put_back_statements
from afresh.verification.weakened_python_tests import find_weakened_python_tests

BASE = '''"""Doc."""
import os
import pytest
import shop

NAMES = ["a", "b"]
PRICES = {"a": 1}
SKIPPED = ["x"]
WANTED: frozenset[str] = frozenset({"a"})
CHECKED = ["a"]


@pytest.mark.parametrize("name", ["a", "b"], ids=["A", "B"])
def test_price(name):
    assert shop.price(name) == PRICES.get(name, 2)


class TestCart:
    limit = 2

    def test_total(self):
        assert shop.total(["a"]) == 1

    def test_some(self):
        if "a" in CHECKED:
            return
        assert shop.total([]) == 0
'''


def altered(*pairs: tuple[str, str]) -> str:
    text = BASE
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


@pytest.mark.parametrize(
    "now",
    [
        altered(('NAMES = ["a", "b"]', 'NAMES = ["a", "ab", "b"]')),
        altered(('{"a": 1}', '{"a": 1, "b": 2}')),
        altered(('frozenset({"a"})', 'frozenset({"a", "b"})')),
        altered(('"name", ["a", "b"], ids=["A", "B"]', '"name", ["a", "b", "c"], ids=["A", "B", "C"]')),
        altered(("import shop\n", "from shop import price\nimport shop as shop\n")),
        BASE + "\n\n@pytest.fixture\ndef cart():\n    return []\n\n\n@pytest.mark.skip\ndef test_new(cart):\n    assert 0\n",
        altered(("    def test_some", "    def helper(self):\n        return 1\n\n    def test_some")),
    ],
)
def test_entries_cases_imports_helpers_and_new_tests_are_free(now: str) -> None:
    assert find_weakened_python_tests("tests/test_shop.py", BASE, now) == ()


@pytest.mark.parametrize(
    ("now", "way", "name"),
    [
        (altered(('NAMES = ["a", "b"]', 'NAMES = ["a", "c"]')), "alter", "NAMES"),
        (altered(('NAMES = ["a", "b"]', 'NAMES = ["b", "a", "c"]')), "alter", "NAMES"),
        (altered(('{"a": 1}', '{"a": 2, "b": 2}')), "alter", "PRICES"),
        (altered(('{"a": 1}', '{"a": 1, "a": 3}')), "alter", "PRICES"),
        (altered(('SKIPPED = ["x"]', 'SKIPPED = ["x", "a"]')), "extend", "SKIPPED"),
        (altered(('CHECKED = ["a"]', 'CHECKED = ["a", "b"]')), "extend", "CHECKED"),
        (altered(('"name", ["a", "b"]', '"name", ["a"]')), "alter", "test_price"),
        (altered(('shop.total(["a"]) == 1', 'shop.total(["a", "b"]) == 1')), "extend", "TestCart.test_total"),
        (altered(('== 1\n', '== 2\n')), "alter", "TestCart.test_total"),
        (altered(("        assert shop.total([]) == 0", "        return")), "skip", "TestCart.test_some"),
        (altered(('assert shop.total(["a"]) == 1', "pass")), "skip", "TestCart.test_total"),
        (altered(("    def test_total", "    @pytest.mark.xfail\n    def test_total")), "skip", "TestCart.test_total"),
        (altered(("class TestCart", "@pytest.mark.skip\nclass TestCart")), "skip", "TestCart"),
        (BASE + "\n\nfrom elsewhere import test_price\n", "skip", "test_price"),
        (BASE + "\n\ndef setup_module():\n    pytest.skip('x')\n", "skip", "setup_module"),
        (BASE + "\n\n@pytest.fixture(autouse=True)\ndef calm():\n    pytest.skip('x')\n", "skip", "calm"),
        (altered(("    def test_some", "    def test_other")), "replace", "TestCart.test_some"),
    ],
)  # fmt: skip
def test_an_entry_that_goes_a_value_that_changes_and_a_list_that_switches_off_are_not(now: str, way: str, name: str) -> None:
    found = find_weakened_python_tests("tests/test_shop.py", BASE, now)
    assert (way, name) in [(one.way, one.name) for one in found], found
    text = put_back_statements("tests/test_shop.py", BASE, now, found)
    assert text is not None and find_weakened_python_tests("tests/test_shop.py", BASE, text) == ()


MORE = "\n\ndef test_more():\n    assert shop.price('c') == 3\n"


def test_a_weakened_test_goes_back_and_the_new_test_beside_it_stays() -> None:
    now = altered(("== 1\n", "== 2\n"), ("    limit = 2", "    limit = 2\n\n    def test_mine(self):\n        assert 1")) + MORE
    text = put_back_statements("tests/test_shop.py", BASE, now, find_weakened_python_tests("tests/test_shop.py", BASE, now))
    assert text == altered(("    limit = 2", "    limit = 2\n\n    def test_mine(self):\n        assert 1")) + MORE


def test_a_removed_test_comes_back_in_its_place_with_the_import_that_it_needs() -> None:
    start = BASE.index("@pytest.mark.parametrize")
    now = BASE[:start].replace("import shop\n", "") + "def test_mine():\n    assert os\n"
    text = put_back_statements("tests/test_shop.py", BASE, now, find_weakened_python_tests("tests/test_shop.py", BASE, now))
    assert text is not None and "import shop\n" in text and text.index("def test_price") < text.index("class TestCart")
    assert "def test_mine" in text
    assert find_weakened_python_tests("tests/test_shop.py", BASE, text) == ()


@given(st.sets(st.integers(0, 7)), st.booleans())
def test_whatever_statements_are_taken_out_they_come_back_and_additions_stay(gone: set[int], more: bool) -> None:
    body = ast.parse(BASE).body
    kept = [one for at, one in enumerate(body[1:]) if at not in gone]
    now = "\n".join(ast.unparse(one) for one in kept) + (MORE if more else "\n")
    found = find_weakened_python_tests("tests/test_shop.py", BASE, now)
    text = put_back_statements("tests/test_shop.py", BASE, now, found)
    assert text is not None and find_weakened_python_tests("tests/test_shop.py", BASE, text) == ()
    assert ("test_more" in text) == more


CONFIG = '[project]\nname = "shop"\n\n[tool.pytest.ini_options]\nfilterwarnings = ["error"]\n\n[tool.ruff]\nline-length = 100\n'


def test_settings_are_told_one_by_one_and_a_filter_that_goes_needs_more_than_a_word_about_warnings() -> None:
    def found(now: str) -> list[tuple[str, str]]:
        return [(one.name, one.way) for one in find_weakening_settings("pyproject.toml", CONFIG, now, [Check("pytest -q")])]

    name = "pytest.ini_options.filterwarnings"
    assert found(CONFIG.replace('["error"]', '["error", "ignore::shop.Old"]')) == [(name, WeakeningWay.CONFIGURE)]
    assert found(CONFIG.replace('["error"]', '["ignore"]')) == [(name, WeakeningWay.SKIP)]
    assert found(CONFIG.replace("[tool.ruff]", "addopts = '-k x'\n\n[tool.ruff]")) == [
        ("pytest.ini_options.addopts", WeakeningWay.CONFIGURE)
    ]


def test_of_a_configuration_file_the_section_of_the_judge_goes_back_and_others_stay() -> None:
    now = CONFIG.replace('["error"]', '["ignore"]').replace("100", "120").replace('"shop"', '"shops"')
    assert put_back_section(CONFIG, now, {"pytest"}) == CONFIG.replace("100", "120").replace('"shop"', '"shops"')
