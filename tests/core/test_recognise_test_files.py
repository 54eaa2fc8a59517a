"""What a path says about the file: whether it holds tests, serves them, or is code."""

import ast
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.recognise_test_files import get_file_name, get_file_stem, is_in_test_folder, is_test_code, is_test_file
from support.source_trees import list_sources


@pytest.mark.parametrize("path", ["tests/__init__.py", "conftest.py", "tests/unit/conftest.py", "tests/helpers/server.py"])
def test_what_serves_tests_is_on_their_side_and_holds_none(path: str) -> None:
    assert is_test_code(path) and not is_test_file(path)


@pytest.mark.parametrize("path", ["tests/test_cart.py", "cart_test.py", "shop/tests.py", "shop/test/test_client.py"])
def test_a_file_of_tests_is_known_by_its_name(path: str) -> None:
    assert is_test_code(path) and is_test_file(path)


@pytest.mark.parametrize("path", ["test.py", "a/test.js", "test.mjs", "tests.js", "spec.ts", "test.rs", "test.c", "test.rb"])
def test_a_file_that_is_called_tests_and_no_more_holds_some(path: str) -> None:
    assert is_test_code(path) and is_test_file(path)


@pytest.mark.parametrize(
    "path",
    ["django/test/client.py", "numpy/testing/__init__.py", "testing/run.py", "src/UNIT.java", "tests.md", "spec.py", "latest.js"],
)
def test_product_code_that_is_called_like_tests_is_no_test(path: str) -> None:
    assert not is_test_code(path) and not is_test_file(path)


def test_what_holds_tests_is_always_on_their_side() -> None:
    names = ["a.py", "__init__.py", "conftest.py", "test_a.py", "a_test.go", "a.spec.ts", "ATest.java", "a.json", "tests.rs"]
    paths = [f"{folder}{name}" for folder in ("", "tests/", "test/", "src/test/", "a/tests/b/", "A.Tests/") for name in names]
    assert all(is_test_code(path) for path in paths if is_test_file(path))
    assert all(
        is_in_test_folder(path) or is_test_file(path) or path.endswith("conftest.py") for path in paths if is_test_code(path)
    )


def test_nobody_else_decides_by_a_path_what_a_test_is() -> None:
    made = {
        str(path)
        for path, _, tree in list_sources()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == "is_test_file"
    }
    assert made == {"core/recognise_test_files.py"}


@given(st.text(alphabet="ab./-_T", min_size=1, max_size=20))
def test_a_stem_is_that_of_pathlib(path: str):
    if PurePosixPath(path).name == get_file_name(path) != "":
        assert get_file_stem(path) == PurePosixPath(path).stem
