"""What a goal names and the repository does not have."""

import pytest

from afresh.code.goal_targets import find_missing_names, find_missing_paths

PATHS = ["src/shop/cart.py", "src/shop/hooks.py", "tests/test_cart.py", "docs/index.md", "README.md"]


@pytest.mark.parametrize(
    ("goal", "near"),
    [
        ("lower the complexity of src/shop/cat.py", ("src/shop/cart.py",)),
        ("the bug is in src/shop/hook.py:12", ("src/shop/hooks.py",)),
        ("Fix `test_carts.py`", ("tests/test_cart.py",)),
        ("simplify src/shopp/", ()),
    ],
)
def test_a_file_to_be_worked_on_is_missed_and_a_like_one_is_suggested(goal: str, near: tuple[str, ...]) -> None:
    (missing,) = find_missing_paths(goal, PATHS)
    assert missing.is_worked_on and missing.near == near


@pytest.mark.parametrize(
    "goal",
    [
        "add src/shop/tax.py",
        "move it from cart.py into src/shop/tax.py",
        "FileNotFoundError: src/shop/tax.py",
        "ruff check src/shop/tax.py prints nothing",
        "it crashes if src/shop/tax.py does not exist",
    ],
)
def test_a_file_that_is_spoken_of_otherwise_is_not_one_to_be_worked_on(goal: str) -> None:
    assert not any(missing.is_worked_on for missing in find_missing_paths(goal, PATHS))


@pytest.mark.parametrize(
    "goal",
    [
        "Python 3.11/3.12", "and/or input/output", "see https://a.b/c.py", "Node.js", "src/**/*.py", "`python x.py -v` fails",
        "--option=src/x.py", "~/x/y.py", "/etc/x.py", "$HOME/a.py", "fix cart.py", "fix shop/cart.py", "the tests/docs", "1/2",
    ],
)  # fmt: skip
def test_what_is_no_path_or_exists_is_not_missed(goal: str) -> None:
    assert not find_missing_paths(goal, PATHS)


@pytest.mark.parametrize(
    ("goal", "names"),
    [
        ("simplify `total_of`", ["total_of"]),
        ("refactor Cart.totl() and `Cart`", []),
        ("simplify totl()", ["totl"]),
        ("`numpy.asarray` and `ValueError` and `os.path`", []),
        ("rename `total` to `whole_sum`", ["whole_sum"]),
    ],
)
def test_names_in_code_form_are_looked_up(goal: str, names: list[str]) -> None:
    missing = find_missing_names(goal, {"total", "Cart"}.__contains__, lambda: ["total", "Cart"])
    assert [one.name for one in missing] == names
    assert all(one.is_worked_on == ("rename" not in goal) for one in missing)
