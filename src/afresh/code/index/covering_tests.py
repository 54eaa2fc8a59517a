"""Which tests cover which code: by what they import, and by their names."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from afresh.code.languages import rust
from afresh.core.recognise_test_files import is_test_file

if TYPE_CHECKING:
    from afresh.code.index.code_index import CodeIndex


MAX_IMPORT_DEPTH = 3
"""Imports from a test to what it covers."""


def has_own_tests(code: "CodeIndex", path: str) -> bool:
    """Also a file of Rust with a module of tests."""
    return is_test_file(path) or (path.endswith(".rs") and rust.has_test_module(code.reading(path)))


def find_tests_by_import(code: "CodeIndex", path: str) -> set[str]:
    """Tests from which a few imports lead to the file; the file itself if it holds tests."""
    found = {path} if path in code.files and has_own_tests(code, path) else set[str]()
    seen, layer = {path}, {path}
    for _ in range(MAX_IMPORT_DEPTH):
        before = {importer for one in layer for importer in code.importers(one)} - seen
        seen |= before
        found.update(one for one in before if is_test_file(one))
        found.update(test for one in before if one.endswith("conftest.py") for test in list_tests_below(one, code.files))
        # what a package gathers for its users is followed by name, not as a whole
        layer = {one for one in before if not one.endswith("__init__.py")}
    return found


def find_tests_by_name(code: "CodeIndex", path: str) -> set[str]:
    stem = PurePosixPath(path).stem.strip("_").lower()
    if stem in ("", "init"):
        return set()
    named = {f"test_{stem}", f"{stem}_test", f"{stem}.test", f"{stem}.spec", f"{stem}-test", f"{stem}test", f"{stem}tests"}
    return {one for one in code.files if PurePosixPath(one).stem.lower() in named and is_test_file(one) and one != path}


def list_tests_below(conftest: str, files: Sequence[str]) -> list[str]:
    folder = str(PurePosixPath(conftest).parent)
    return [path for path in files if is_test_file(path) and (folder == "." or path.startswith(folder + "/"))]
