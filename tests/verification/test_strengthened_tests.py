"""A test that checks more than before is not weakened."""

import pytest

from afresh.verification import weakened_python_tests
from afresh.verification.weakened_python_tests import find_weakened_python_tests

BASE = (
    "import shop\n\n\ndef test_price():\n    for name in ['a', 'b']:\n        assert shop.price(name)\n"
    "    with shop.open() as one:\n        assert one\n"
)
STRONGER = {
    "an assertion more": ("assert shop.price(name)\n", "assert shop.price(name)\n        assert shop.tax(name)\n"),
    "entries more in a loop": ("['a', 'b']", "['a', 'b', 'c']"),
    "a name for a value": ("assert one\n", "assert one\n        two = shop.two()\n        assert two\n"),
    "a block of checks": ("assert one\n", "assert one\n    with pytest.raises(KeyError):\n        shop.price('z')\n"),
}
WEAKER = {
    "an assertion altered": ("assert shop.price(name)", "assert shop.price(name) or True"),
    "an assertion fewer": ("        assert shop.price(name)\n", "        pass\n"),
    "an entry fewer": ("['a', 'b']", "['a']"),
    "left early": ("    with shop", "    return\n    with shop"),
    "a name with another value": ("    with shop", "    shop = None\n    with shop"),
    "a call in between": ("    with shop", "    shop.patch()\n    with shop"),
    "the loop over something else": ("['a', 'b']", "[]"),
    "a condition around it": ("        assert shop.price(name)\n", "        if name:\n            assert shop.price(name)\n"),
}


@pytest.mark.parametrize("way", STRONGER)
def test_more_checks_are_free(way: str) -> None:
    now = BASE.replace(*STRONGER[way])
    assert now != BASE and find_weakened_python_tests("tests/test_shop.py", BASE, now) == ()


@pytest.mark.parametrize("way", STRONGER)
def test_without_the_rule_they_would_be_called_weakening(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weakened_python_tests, "is_strengthened", lambda *_: False)
    assert find_weakened_python_tests("tests/test_shop.py", BASE, BASE.replace(*STRONGER[way]))


@pytest.mark.parametrize("way", WEAKER)
def test_anything_else_is_not(way: str) -> None:
    now = BASE.replace(*WEAKER[way])
    assert now != BASE and find_weakened_python_tests("tests/test_shop.py", BASE, now)
