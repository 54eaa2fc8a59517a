"""Tells tests, settings and documents by their paths."""

import re

_TEST_FOLDER_NAMES = frozenset({"tests", "__tests__"})
_TOP_LEVEL_TEST_FOLDER_NAMES = frozenset({"test", "spec", "specs", "js_tests", "e2e"})
"""Folders that hold tests at the top; deeper down, in Python, these are often product code: django/test, say."""
_TEST_PROJECT_SUFFIXES = (".Tests", ".Test", ".UnitTests", ".IntegrationTests")
"""How folders of tests end in C#."""
_TEST_SUPPORT_FOLDER_NAMES = frozenset(
    {"fixtures", "__fixtures__", "__mocks__", "testdata", "support", "common", "helpers", "resources"}
)
_PYTHON_TEST_NAME = re.compile(r"test_.*\.py|.*_test\.py|tests?\.py")
_CODE_SUFFIX = re.compile(r"\.(?:py|[cm]?[jt]sx?|go|rs|rb|java|kts?|scala|cs|php|swift|c|cc|cpp|exs?|sh|bats|t)$")
_OTHER_TEST_NAME = re.compile(
    rf"tests?{_CODE_SUFFIX.pattern}|specs?\.(?:[cm]?[jt]sx?|rb)"
    r"|.*[._-](?:test|spec)s?\.(?:[cm]?[jt]sx?|vue)|.*_test\.(?:go|dart|exs|cc|cpp|c|rs)|.*_(?:spec|test)\.rb"
    r"|test_.*\.(?:rb|c|cc|cpp|rs|jl|R|[cm]?[jt]sx?)|.*(?:Test|Tests|TestCase|Spec)\.(?:java|kts?|scala|cs|php|swift|groovy)"
    r"|.*(?<=[a-z0-9])IT\.(?:java|kts?|scala|groovy)|.*\.(?:bats|t)"
)


def is_test_code(path: str) -> bool:
    """Code on the side of the tests: it holds some, sets them up, or stands in a folder of tests for their use."""
    if is_conftest(path) or _has_test_name(path):
        return True
    return is_in_test_folder(path) and bool(_CODE_SUFFIX.search(path))


def is_test_file(path: str) -> bool:
    """A file of tests, and not one that only serves them, such as `tests/__init__.py` or `conftest.py`. In Python it is known
    by its name, elsewhere also by where it stands."""
    if _has_test_name(path):
        return True
    return is_test_code(path) and not path.endswith(".py") and _TEST_SUPPORT_FOLDER_NAMES.isdisjoint(path.split("/")[:-1])


def is_in_test_folder(path: str) -> bool:
    """Anything that tests may read stands there too: expected output, sample files."""
    folders = path.split("/")[:-1]
    if not _TEST_FOLDER_NAMES.isdisjoint(folders) or any(folder.endswith(_TEST_PROJECT_SUFFIXES) for folder in folders):
        return True
    deep = bool(_CODE_SUFFIX.search(path)) and not path.endswith(".py")
    return not _TOP_LEVEL_TEST_FOLDER_NAMES.isdisjoint(folders if deep else folders[:1])


def _has_test_name(path: str) -> bool:
    name = get_file_name(path)
    return bool(_PYTHON_TEST_NAME.fullmatch(name) or _OTHER_TEST_NAME.fullmatch(name))


def is_pytest_file(path: str) -> bool:
    """A file that pytest collects by its default name patterns, or that configures it."""
    return is_conftest(path) or bool(_PYTHON_TEST_NAME.fullmatch(get_file_name(path)))


def is_conftest(path: str) -> bool:
    return get_file_name(path) == "conftest.py"


def is_code_file(path: str) -> bool:
    return bool(_CODE_SUFFIX.search(path))


def get_file_name(path: str) -> str:
    return path.rpartition("/")[2]


def get_file_stem(path: str) -> str:
    """The name without its last suffix, as pathlib has it; for loops over all files of a tree, since pathlib takes ten times
    as long."""
    name = get_file_name(path)
    at = name.rfind(".")
    return name[:at] if 0 < at < len(name) - 1 else name


def is_protected_path(path: str) -> bool:
    """Tests, and what lies beside them for them to read."""
    return is_test_code(path) or is_in_test_folder(path)
