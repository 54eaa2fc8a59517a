import pytest

from afresh.code.index.code_index import build_code_index
from afresh.core.recognise_test_files import is_test_code, is_test_file
from support.fakes import DictFiles

TESTS = [
    *(
        "src/cart.test.ts",
        "src/cart.spec.tsx",
        "src/__tests__/cart.js",
        "test/app.use.js",
        "money/rate_test.go",
        "tests/whole.rs",
    ),
    *("src/test/java/org/shop/Any.java", "org/CartTest.java", "org/CartIT.java", "Shop.Tests/Carts.cs", "CartTests.cs"),
]
NO_TESTS = [
    *("src/cart.ts", "src/latest.js", "src/contest.go", "src/main/java/org/Cart.java", "Shop/Attest.cs", "src/test.d/cart.rs"),
    *("src/Latest.java", "src/UNIT.java"),
]


@pytest.mark.parametrize("path", TESTS)
def test_a_test_is_known_by_the_habits_of_its_language(path: str):
    assert is_test_file(path) and is_test_code(path)


@pytest.mark.parametrize("path", NO_TESTS)
def test_other_files_are_none(path: str):
    assert not is_test_code(path)


@pytest.mark.parametrize(
    "path", ["tests/common/mod.rs", "test/fixtures/page.js", "test/support/server.ts", "src/test/resources/a.js"]
)
def test_what_tests_use_is_among_them_and_holds_none(path: str):
    assert is_test_code(path) and not is_test_file(path)


def test_tests_of_a_file_are_found_in_every_language():
    files = DictFiles()
    files.texts = {
        "go.mod": "module shop\n",
        "cart.go": "package shop\n\nfunc Total() {}\n",
        "whole_test.go": "package shop\n\nfunc TestAll() { Total() }\n",
        "src/own.rs": "fn one() {}\n#[cfg(test)]\nmod tests { use super::*; }\n",
        "src/none.rs": "fn one() {}\n",
        "web/cart.ts": "export const total = 1;\n",
        "web/__tests__/sum.ts": 'import { total } from "../cart";\n',
        "Shop/Cart.cs": "namespace Shop;\npublic class Cart {}\n",
        "Shop.Tests/Sums.cs": "using Shop;\nnamespace Shop.Tests;\npublic class Sums { Cart cart; }\n",
        "a/Cart.java": "package a;\npublic class Cart {}\n",
        "src/test/java/Sums.java": "import a.Cart;\nclass Sums { Cart cart; }\n",
    }
    code = build_code_index(files)
    assert {path: list(found) for path in code.files if (found := code.tests_of(path)) and not is_test_code(path)} == {
        "Shop/Cart.cs": ["Shop.Tests/Sums.cs"],
        "a/Cart.java": ["src/test/java/Sums.java"],
        "cart.go": ["whole_test.go"],
        "src/own.rs": ["src/own.rs"],
        "web/cart.ts": ["web/__tests__/sum.ts"],
    }


def test_what_was_read_without_grammars_is_read_again_with_them(monkeypatch: pytest.MonkeyPatch):
    from afresh.code.index import update_index as taking
    from afresh.code.languages import registry as languages

    with_them = taking.hash_content("a.go", "package a\n")
    monkeypatch.setattr(languages, "has_grammars", lambda: False)
    assert taking.hash_content("a.go", "package a\n") != with_them
    assert taking.hash_content("a.py", "") == taking.hash_content("a.py", "")


def test_missing_grammars_are_named_by_package(monkeypatch: pytest.MonkeyPatch):
    from afresh.app.code.explore_code import describe_missing_grammars
    from afresh.code.languages import registry

    paths = ["a.go", "b.py", "web/c.tsx"]
    assert registry.list_missing_grammars(paths) == {} and describe_missing_grammars(paths) == ""
    monkeypatch.setattr(registry, "can_import_grammar", lambda language: language != "go")
    assert registry.list_missing_grammars(paths) == {"go": "tree-sitter-go"}
    assert "tree-sitter-go can't be imported" in describe_missing_grammars(paths)
    assert registry.reader_key_from_path("a.go").endswith("?"), "it is read again once the grammar is there"
