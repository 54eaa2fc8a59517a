"""Small projects of our own, by path and text, for what is said of projects."""

from afresh.domain.code import Churn
from afresh.insight.code import Code, code_of
from afresh.insight.configuration import Configuration, configuration_of
from afresh.testing.files import DictFiles

PYPROJECT = """\
[project]
name = "shop"
description = "Sells things. And more."
requires-python = ">=3.11"
scripts = {shop = "shop.cli.main:main"}

[tool.pytest.ini_options]
testpaths = ["tests"]

[tool.ruff]
line-length = 100

[tool.ruff.lint]
select = ["E", "F", "C901"]

[tool.ruff.lint.pylint]
max-args = 5
"""


def function(name: str, number: int) -> str:
    return (
        f'def {name}_{number}(count: int, label: str = "none") -> str:\n    """Says how many."""\n'
        f'    if count > {number}:\n        return f"{{count}} {{label}}"\n    return label + "s"\n\n\n'
    )


def module(name: str, head: str = "", functions: int = 4) -> str:
    return f'"""About {name}."""\n\n{head}\n\n' + "".join(function(name, number) for number in range(functions))


ERRORS = 'class ShopError(Exception):\n    """All of ours."""\n\n\nclass Sold(ShopError):\n    pass\n\n\nclass Lost(ShopError):\n    pass\n'
SHOP = {
    "pyproject.toml": PYPROJECT,
    "CHANGELOG.md": "# Changes\n",
    "docs/index.md": "# Shop\n",
    "src/shop/__init__.py": '"""A shop."""\n\n__version__ = "1"\n',
    "src/shop/errors.py": ERRORS,
    "src/shop/cli/__init__.py": "",
    "src/shop/cli/main.py": module(
        "main", "import click\nfrom rich import print\n\nfrom shop.app.sell import sell_1\nfrom shop.domain.price import price_1"
    ),
    "src/shop/cli/show.py": module("show", "import click\n\nfrom shop.app.sell import sell_2"),
    "src/shop/cli/list.py": module("list", "import click\n\nfrom shop.app.stock import stock_1"),
    "src/shop/app/__init__.py": "",
    "src/shop/app/sell.py": module("sell", "from shop.domain.price import price_1\nfrom shop.errors import Sold"),
    "src/shop/app/stock.py": module("stock", "from shop.domain.item import item_1"),
    "src/shop/domain/__init__.py": "",
    "src/shop/domain/price.py": module("price", "from shop.domain.item import item_2\nfrom shop.errors import Lost"),
    "src/shop/domain/item.py": module("item"),
    "src/shop/adapters/__init__.py": "",
    "src/shop/adapters/files.py": module("files", "import json\n\nfrom shop.domain.item import item_1"),
    "src/shop/adapters/paper.py": module("paper", "from shop.domain.price import price_1"),
    "tests/conftest.py": "import pytest\n",
    "tests/cli/test_main.py": "import pytest\nfrom shop.cli.main import main_1\n\n\ndef test_it_says_how_many_there_are_in_all():\n    assert main_1(1)\n",
    "tests/app/test_sell.py": "import pytest\nfrom shop.app.sell import sell_1\n\n\ndef test_what_is_sold_can_not_be_sold_again():\n    assert sell_1(1)\n",
    "tests/domain/test_price.py": (
        "from hypothesis import given\nfrom shop.domain.price import price_1\n\n\ndef test_a_price_is_never_below_that_of_its_parts():\n    assert price_1(1)\n"
    ),
    "tests/domain/test_item.py": "from hypothesis import given\nfrom shop.domain.item import item_1\n\n\ndef test_an_item_knows_its_own_name_and_count():\n    pass\n",
}


class Tree(DictFiles):
    """By real paths."""

    def __init__(self, texts: dict[str, str]) -> None:
        super().__init__()
        self.texts = dict(texts)


def read(texts: dict[str, str], churn: dict[str, Churn] | None = None) -> tuple[Code, Configuration]:
    files = Tree(texts)
    return code_of(files, churn), configuration_of(files.paths(), files.read)


def configured(**texts: str) -> Configuration:
    """By names in which __ is a slash, and _DOT_ and _DASH_ stand for themselves."""
    real = {name.replace("__", "/").replace("_DOT_", ".").replace("_DASH_", "-"): text for name, text in texts.items()}
    return given(real)


def given(texts: dict[str, str]) -> Configuration:
    return configuration_of(sorted(texts), lambda path: texts[path])
