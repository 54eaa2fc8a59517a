import importlib.util
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "bench" / "signatures.py"


@pytest.fixture
def signatures():
    spec = importlib.util.spec_from_file_location("signatures", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.public_signatures


def written(folder: Path, text: str) -> Path:
    (folder / "m.py").write_text(text)
    return folder


BEFORE = "class K:\n    def g(self, a, *, b=1): ...\n\n\ndef f(x: int) -> str: ...\n"


def test_private_functions_may_come_and_go(signatures, tmp_path):
    before = signatures(written(tmp_path, BEFORE), "m.py")
    assert before == signatures(written(tmp_path, BEFORE + "def _h(y): ...\n"), "m.py")


@pytest.mark.parametrize(
    ("old", "new"), [("b=1", "b=2"), ("x: int", "x"), ("-> str", "-> int"), ("class K:", "class K(dict):"), ("def g", "def _g")]
)
def test_any_change_of_what_users_see_is_seen(signatures, tmp_path, old, new):
    before = signatures(written(tmp_path, BEFORE), "m.py")
    assert before != signatures(written(tmp_path, BEFORE.replace(old, new)), "m.py")
