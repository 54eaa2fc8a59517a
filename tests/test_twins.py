"""Each row of `twins.py` names a guard and a test that exist; that the test notices is seen by `make mutants`."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

from twins import TWINS, Twin

HERE = Path(__file__).parent


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name.split()[0])
def test_what_a_twin_names_is_there(twin: Twin) -> None:
    for place in twin.name.split():
        module, _, names = place.partition(":")
        owner: object = import_module(f"afresh.{module}")
        for name in names.split("."):
            owner = getattr(owner, name)
    file, name = twin.test.split("::", 1)[0], twin.test.rsplit("::", 1)[1].partition("[")[0]
    texts = [(HERE / file).read_text(), *(path.read_text() for path in (HERE / "support").glob("*_contract.py"))]
    assert name in {node.name for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
