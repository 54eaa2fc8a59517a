"""Which tests ran which files, read from a coverage.py data file that was recorded with test contexts."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

COVERAGE_FILE_NAME = ".coverage"
COVERAGE_PAIRS_SQL = (
    "SELECT file.path, context.context FROM line_bits JOIN file ON file.id = file_id JOIN context ON context.id = context_id"
    " UNION"
    " SELECT file.path, context.context FROM arc JOIN file ON file.id = file_id JOIN context ON context.id = context_id"
)


def read_coverage(root: Path) -> dict[str, list[str]]:
    """Return the test files that ran each file, both as paths from the root."""
    found: dict[str, set[str]] = {}
    tests: dict[str, str] = {}
    for path, context in read_coverage_pairs(root / COVERAGE_FILE_NAME):
        if context not in tests:
            tests[context] = file_from_context(context, root)
        here = os.path.relpath(path, root)
        if tests[context] and not here.startswith(".."):
            found.setdefault(here, set()).add(tests[context])
    return {path: sorted(some) for path, some in found.items()}


def read_coverage_pairs(data: Path) -> list[tuple[str, str]]:
    """Return pairs of measured file and context; empty if the file is missing or not from coverage.py."""
    if not data.is_file() or data.is_symlink():
        return []
    try:
        with closing(sqlite3.connect(f"{data.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute(COVERAGE_PAIRS_SQL).fetchall()
    except sqlite3.Error:
        return []


def file_from_context(context: str, root: Path) -> str:
    """Return the test file of a context, given as a pytest id (`tests/test_a.py::test_b|run`) or a module name; empty if there is
    none.
    """
    named = context.partition("::")[0]
    if named.endswith(".py"):
        return named if (root / named).is_file() else ""
    parts = context.partition("|")[0].split(".")
    candidates = ("/".join(parts[:end]) + ".py" for end in range(len(parts) - 1, 0, -1))
    return next((path for path in candidates if (root / path).is_file()), "")
