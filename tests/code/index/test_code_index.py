import gc
from weakref import ref

from afresh.code.index.code_index import build_code_index
from support.fakes import DictFiles

SHOP = {
    "README.md": "shop",
    "src/shop/__init__.py": "from shop.cart import Cart\n",
    "src/shop/cart.py": '"""Carts."""\nfrom .money import rate\n\n\nclass Cart:\n    """Holds items.\n\n    More."""\n\n'
    "    LIMIT = 3\n\n"
    "    def total(self, tax: int = 1, *rest) -> int:\n        return rate(self.items)  # parseHTTPHeader\n",
    "src/shop/money.py": "import os, json as j\ndef rate(items): ...\nasync def total(): ...\n",
    "src/shop/broken.py": "def (:\n",
    "tests/test_cart.py": "from shop import Cart\n",
    "tests/deep/conftest.py": "import shop.money\n",
    "tests/deep/test_other.py": "",
}


def files(**more: str) -> DictFiles:
    made = DictFiles()
    made.texts = {**SHOP, **more}
    return made


def test_all_paths_are_there_and_those_understood_apart():
    code = build_code_index(files())
    assert code.paths == tuple(sorted(SHOP))
    assert list(code.files) == [path for path in sorted(SHOP) if path.endswith(".py")]
    assert code.reading("src/shop/broken.py").fault == "does not parse"


def test_a_symbol_is_found_by_any_trailing_part_of_its_name():
    code = build_code_index(files())
    assert [str(place) for place in code.defining("total")] == ["src/shop/cart.py:12", "src/shop/money.py:3"]
    (place,) = code.defining("Cart.total")
    assert place.symbol.signature == "def total(self, tax: int = 1, *rest) -> int"
    assert not code.defining("art.total")
    assert code.defining("Cart")[0].symbol.doc == "Holds items."


def test_imports_are_followed_to_files_both_ways():
    code = build_code_index(files())
    assert code.imports("src/shop/cart.py") == ["src/shop/money.py"]
    assert code.imports("tests/test_cart.py") == ["src/shop/__init__.py", "src/shop/cart.py"]
    assert code.importers("src/shop/cart.py") == ["src/shop/__init__.py", "tests/test_cart.py"]


def test_names_are_looked_up_in_code_and_words_in_all_that_is_written():
    code = build_code_index(files())
    assert code.mentioning("rate") == ["src/shop/cart.py", "src/shop/money.py"]
    assert not code.mentioning("parseHTTPHeader")
    assert code.words("headers") == {"src/shop/cart.py": 1}
    assert code.words("cart")["tests/test_cart.py"] == 2
    assert code.length("src/shop/broken.py") == 7  # words of its path


def test_tests_are_found_by_import_by_name_and_as_measured():
    code = build_code_index(files(), measured={"src/shop/broken.py": ["tests/test_cart.py", "tests/gone.py"]})
    assert code.tests_of("src/shop/cart.py") == ["tests/test_cart.py"]
    assert code.tests_of("src/shop/money.py") == ["tests/deep/test_other.py", "tests/test_cart.py"]
    assert code.tests_of("src/shop/broken.py") == ["tests/test_cart.py"]


def test_a_text_is_never_stale_and_corrects_what_was_read():
    tree = files()
    code = build_code_index(tree)
    before = code.digest
    tree.write("src/shop/money.py", "def fresh(): ...\n")
    assert code.defining("rate")
    assert code.text("src/shop/money.py") == "def fresh(): ...\n"
    assert not code.defining("rate")
    assert code.defining("fresh")
    assert code.digest != before


def test_a_tree_that_is_let_go_is_out_of_memory_at_once():
    """A step creates an index for each state of the tree: with reference cycles they would accumulate until the next garbage
    collection.
    """
    gc.disable()
    try:
        code = build_code_index(files())
        assert code.importers("src/shop/money.py") and code.imported_by("src/shop/money.py")
        held = ref(code)
        del code
        assert held() is None
    finally:
        gc.enable()
