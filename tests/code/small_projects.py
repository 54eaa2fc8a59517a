"""Small projects by path and text, for tests of the project profile."""

from afresh.code.config_files import ProjectConfiguration, read_configuration
from afresh.code.index.code_index import CodeIndex, build_code_index, refresh_code_index
from afresh.code.index.update_index import MemoryCodeStore
from afresh.core.commit import FileChurn
from support.fakes import DictFiles

PYPROJECT = """\
[project]
name = "shop"
description = "Sells things. And more."
requires-python = ">=3.11"
dependencies = ["click>=8", "rich"]
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


def tested(module: str, name: str, behaviour: str, library: str = "pytest") -> str:
    return f"import {library}\nfrom shop.{module} import {name}\n\n\ndef test_{behaviour}():\n    assert {name}(1)\n"


ERRORS = """\
class ShopError(Exception):
    pass


class Sold(ShopError):
    pass


class Lost(ShopError):
    pass
"""
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
    "tests/cli/test_main.py": tested("cli.main", "main_1", "it_says_how_many_there_are_in_all"),
    "tests/app/test_sell.py": tested("app.sell", "sell_1", "what_is_sold_can_not_be_sold_again"),
    "tests/domain/test_price.py": tested("domain.price", "price_1", "a_price_is_never_below_that_of_its_parts", "hypothesis"),
    "tests/domain/test_item.py": tested("domain.item", "item_1", "an_item_knows_its_own_name_and_count", "hypothesis"),
}


class Tree(DictFiles):
    """A file tree by real paths."""

    def __init__(self, texts: dict[str, str]) -> None:
        super().__init__()
        self.texts = dict(texts)


def read(
    texts: dict[str, str], churn: dict[str, FileChurn] | None = None, store: MemoryCodeStore | None = None
) -> tuple[CodeIndex, ProjectConfiguration]:
    """Build an index and read the configuration. A store that was used before knows the contents that it has seen."""
    files = Tree(texts)
    code = refresh_code_index(files, "tree", store, churn) if store else build_code_index(files, churn)
    return code, read_configuration(files.paths(), files.read)


def given(texts: dict[str, str]) -> ProjectConfiguration:
    return read_configuration(sorted(texts), lambda path: texts[path])
