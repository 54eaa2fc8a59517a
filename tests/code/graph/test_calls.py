"""Constants and languages other than Python are matched by name, in files that can see the definition."""

import pytest
from asked import callers, code, place, told
from trees import Texts

from afresh.code.graph import calls
from afresh.code.index.code_index import build_code_index


def test_constants_are_found_by_name_where_they_can_be_seen():
    tree = code(
        lib="LIMIT = 3\nHALF = LIMIT // 2\n# LIMIT\n",
        user="from lib import LIMIT\ndef use():\n    return LIMIT\n",
        apart__other="LIMIT = 4\nprint(LIMIT)\n",
    )
    assert told(callers(tree, "LIMIT", "lib.py")) == ["lib passed?", "user use passed?"]


SOURCES = {
    "go": (
        {"shop/price.go": "package shop\n\nfunc Total(n int) int {\n\treturn n\n}\n",
         "shop/cart.go": "package shop\n\nfunc Sum() int {\n\t// Total of all\n\treturn Total(2)\n}\n"},
        "Total", [("shop/cart.go", 5, "Sum", "call")],
    ),
    "javascript": (
        {"price.js": "export function total(n) {\n  return n;\n}\n",
         "cart.js": "import { total } from './price.js';\nexport function sum(all) {\n  return all.map(total) + total(1);\n}\n",
         "far.js": "function total() {}\ntotal();\n"},
        "total", [("cart.js", 1, "", "import"), ("cart.js", 3, "sum", "call")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("texts", "name", "expected"), SOURCES.values(), ids=SOURCES)
def test_other_languages(texts: dict[str, str], name: str, expected: list[tuple[str, int, str, str]]):
    pytest.importorskip("tree_sitter")
    tree = build_code_index(Texts(texts))
    first = next(iter(texts))
    found = calls.find_callers(tree, place(tree, name, first))
    assert [
        (call.path, call.line, call.within, call.kind.value) for call in found if call.path not in (first, "far.js")
    ] == expected
    assert not [call for call in found if call.path == "far.js"]
    assert [call.sure for call in found if call.path == "cart.js"] == [True] * 2 * (first == "price.js"), "by its import"
