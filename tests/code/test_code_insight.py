from trees import tree

from afresh.code.code_insight import CodeInsight

PROJECT = tree(
    src__shop____init__="from shop.cart import Cart\nfrom .price import price\n",
    src__shop__cart="from shop import money\nclass Cart: pass\n",
    src__shop__price="from .rules.tax import rate\ndef price(): pass\n",
    src__shop__money="",
    src__shop__rules____init__="",
    src__shop__rules__tax="",
    src__shop__lonely="",
    tests__test_cart="from shop import Cart\n",
    tests__test_price="import shop.price\n",
    tests__test_all="import shop\n",
    tests__unit__test_lonely="import subprocess\n",
    tests__conftest="import shop.money\n",
)
PROJECT.texts["README.md"] = "hello"
# `tree` turns two underscores into a slash
PROJECT.texts = {
    path.replace("shop//init/", "shop/__init__").replace("rules//init/", "rules/__init__"): text
    for path, text in PROJECT.texts.items()
}


def covering(*changed: str) -> list[str]:
    return [path.removeprefix("tests/") for path in CodeInsight().tests_for(changed, PROJECT)]


def test_tests_are_found_through_the_names_that_a_package_passes_on():
    assert covering("src/shop/cart.py") == ["test_all.py", "test_cart.py"]
    assert covering("src/shop/price.py") == ["test_all.py", "test_price.py"]


def test_tests_are_found_through_other_modules_and_relative_imports():
    assert covering("src/shop/rules/tax.py") == ["test_all.py", "test_price.py"]


def test_what_conftest_imports_is_covered_by_all_below_it():
    assert covering("src/shop/money.py") == ["test_all.py", "test_cart.py", "test_price.py", "unit/test_lonely.py"]


def test_a_name_is_enough():
    assert covering("src/shop/lonely.py") == ["unit/test_lonely.py"]


def test_a_changed_test_covers_itself():
    assert covering("tests/test_cart.py", "src/shop/price.py") == ["test_all.py", "test_cart.py", "test_price.py"]


def test_unknown_means_empty():
    assert covering("README.md") == []
    assert covering("tests/conftest.py") == []
    assert covering("src/shop/cart.py", "README.md") == []
    assert covering("src/shop/rules/__init__.py") == []
    assert covering() == []
