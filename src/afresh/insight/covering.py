"""Which tests are worth running after a change."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from afresh.insight.code import CodeIndex


def select_tests_for_change(changed: Sequence[str], code: CodeIndex) -> list[str]:
    """Test files for all the changed files; empty as soon as one of them cannot be judged."""
    found: set[str] = set()
    for path in changed:
        if not path.endswith(".py") or PurePosixPath(path).name == "conftest.py":
            return []
        covering = [test for test in code.tests_of(path) if test.endswith(".py")]
        if not covering and path in code.paths:
            return []
        found.update(covering)
    return sorted(found)
