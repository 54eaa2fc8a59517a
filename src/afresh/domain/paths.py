"""What a path says about the file."""

import re

_TEST_FOLDERS = frozenset({"tests", "__tests__"})
_TOP_TEST_FOLDERS = frozenset({"test", "spec", "specs"})  # deeper down these are often product code: django/test, say
_PYTHON = re.compile(r"test_.*\.py|.*_test\.py|tests\.py|conftest\.py")
_OTHERS = re.compile(
    r".*[._-](?:test|spec)s?\.(?:[cm]?[jt]sx?|vue)|.*_test\.(?:go|dart|exs|cc|cpp|c|rs)|.*_(?:spec|test)\.rb"
    r"|test_.*\.(?:rb|c|cc|cpp|rs|jl|R)|.*(?:Test|Tests|TestCase|IT|Spec)\.(?:java|kt|kts|scala|cs|php|swift|groovy)|.*\.(?:bats|t)"
)
_CODE = re.compile(r"\.(?:py|[cm]?[jt]sx?|go|rs|rb|java|kts?|scala|cs|php|swift|c|cc|cpp|exs?|sh|bats|t)$")


def is_test(path: str) -> bool:
    """Code that tests: by its own name, or because it stands in a folder of tests."""
    name = file_name(path)
    if _PYTHON.fullmatch(name) or _OTHERS.fullmatch(name):
        return True
    return in_test_folder(path) and bool(_CODE.search(name))


def in_test_folder(path: str) -> bool:
    """Anything that tests may read stands there too: expected output, sample files."""
    folders = path.split("/")[:-1]
    return not _TEST_FOLDERS.isdisjoint(folders) or not _TOP_TEST_FOLDERS.isdisjoint(folders[:1])


def is_named_test(path: str) -> bool:
    """A file that pytest collects by its default name patterns, or that configures it."""
    return bool(_PYTHON.fullmatch(file_name(path)))


def is_conftest(path: str) -> bool:
    return file_name(path) == "conftest.py"


def file_name(path: str) -> str:
    return path.rpartition("/")[2]
