"""Each row of `twins.py` names a guard and a test that exist; that the test notices is seen by `make mutants`."""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path

from twins import TWINS

HERE = Path(__file__).parent


@cache
def list_tests(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


def test_what_a_twin_names_is_there() -> None:
    contracts = set[str]().union(*map(list_tests, (HERE / "support").glob("*_contract.py")))
    for twin in TWINS:
        for place in twin.name.split():
            module, _, names = place.partition(":")
            owner: object = import_module(f"afresh.{module}")
            for name in names.split("."):
                owner = getattr(owner, name)
        file, name = twin.test.split("::", 1)[0], twin.test.rsplit("::", 1)[1].partition("[")[0]
        assert name in list_tests(HERE / file) | contracts, twin
