import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import Texts

from afresh.code.entry_points import list_entry_points
from afresh.code.index.code_index import CodeIndex, build_code_index
from afresh.code.search_hit import MatchQuality
from afresh.code.symbol_search import find_symbols
from afresh.core.symbol import SymbolKind

TREE = {
    "src/shop/cart.py": "LIMIT = 3\nclass Cart:\n    def add_item(self, item): ...\n    def _check(self): ...\n",
    "src/shop/web.py": "def parseHTTPHeader(text): ...\ndef add(): ...\nclass Basket:\n    def add(self): ...\n",
    "tests/test_cart.py": "def add(): ...\ndef test_cart(): ...\n",
}


def shop() -> CodeIndex:
    return build_code_index(Texts(dict(TREE)))


def told(asked: str, *kinds: SymbolKind, most: int = 20) -> tuple[str, list[str]]:
    found = find_symbols(shop(), asked, kinds, most)
    return found.match.value, [f"{place.path}:{place.symbol.name}" for place in found.places]


@pytest.mark.parametrize(
    ("asked", "match", "first"),
    [
        ("Cart", "exact", "src/shop/cart.py:Cart"),
        ("Cart.add_item", "exact", "src/shop/cart.py:Cart.add_item"),
        ("add_item", "exact", "src/shop/cart.py:Cart.add_item"),
        ("add_item()", "exact", "src/shop/cart.py:Cart.add_item"),
        ("Cart::add_item", "exact", "src/shop/cart.py:Cart.add_item"),
        ("cart.py:add_item", "exact", "src/shop/cart.py:Cart.add_item"),
        ("web.py:add", "exact", "src/shop/web.py:add"),
        ("addItem", "spelling", "src/shop/cart.py:Cart.add_item"),
        ("cart.additem", "spelling", "src/shop/cart.py:Cart.add_item"),
        ("parse_http_header", "spelling", "src/shop/web.py:parseHTTPHeader"),
        ("http_head", "part", "src/shop/web.py:parseHTTPHeader"),
        ("header parse", "words", "src/shop/web.py:parseHTTPHeader"),
        ("parseHTPHeadr", "near", "src/shop/web.py:parseHTTPHeader"),
        ("Carts", "near", "src/shop/cart.py:Cart"),
    ],
)
def test_a_symbol_is_found(asked: str, match: str, first: str):
    how, places = told(asked)
    assert (how, places[0]) == (match, first)


def test_code_comes_before_tests_and_what_stands_alone_before_members():
    assert told("add")[1] == ["src/shop/web.py:add", "src/shop/web.py:Basket.add", "tests/test_cart.py:add"]


def test_kinds_narrow_it():
    assert told("add", SymbolKind.METHOD)[1] == ["src/shop/web.py:Basket.add"]
    assert told("LIMIT", SymbolKind.CLASS) == ("near", [])


def test_what_is_left_out_is_counted():
    found = find_symbols(shop(), "add", most=1)
    assert (len(found.places), found.more, found.match) == (1, 2, MatchQuality.EXACT)


def test_nothing_alike_is_nothing():
    assert told("zzzzzzz") == ("near", [])


def test_a_name_that_is_defined_twice_in_a_file_stands_once():
    code = build_code_index(Texts({"a.py": "try:\n    def f(): ...\nexcept E:\n    def f(x): ...\n"}))
    assert [(place.symbol.line, place.symbol.signature) for place in find_symbols(code, "f").places] == [(4, "def f(x)")]


@given(st.text(max_size=12))
def test_any_question_has_an_answer(asked: str):
    code = shop()
    found = find_symbols(code, asked)
    assert len(found.places) <= 20
    assert {place.path for place in found.places} <= set(code.files)


def test_runs_begin_at_commands_and_at_files_that_say_so():
    code = build_code_index(
        Texts(
            {
                "pyproject.toml": '[project.scripts]\nshop = "shop.main:run"\ngone = "elsewhere:go"\n',
                "src/shop/__init__.py": "",
                "src/shop/main.py": "import os\ndef run(): ...\n",
                "scripts/load.py": "if __name__ == '__main__':\n    pass\n",
                "tests/test_a.py": "if __name__ == '__main__':\n    pass\n",
                "web/package.json": '{"name": "web", "bin": {"serve": "./serve.js"}}',
                "web/serve.js": "",
                "bad/package.json": "{",
            }
        )
    )
    assert [(each.name, each.path, each.line) for each in list_entry_points(code)] == [
        ("gone", "pyproject.toml", 3),
        ("shop", "src/shop/main.py", 2),
        ("serve", "web/serve.js", 1),
        ("scripts/load.py", "scripts/load.py", 1),
    ]
