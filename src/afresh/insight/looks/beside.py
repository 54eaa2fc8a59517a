"""The file of tests that is nearest to what was changed, while tests are what comes next."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from afresh.domain.fact import Item
from afresh.domain.paths import is_test_file, is_test_code
from afresh.domain.state import State
from afresh.insight.looks.scene import WorkFocus

RECENT_STEPS = 3
"""Steps."""
TEST_WORD = re.compile(r"\btest(?:s|ed|ing)?\b", re.IGNORECASE)


def gather_nearest_test_file(scene: WorkFocus) -> Iterator[Item]:
    """New code that no test knows yet is tested as what it uses is."""
    sources = [path for path in scene.state.changed if path in scene.code.files and not is_test_code(path)]
    if why := explain_tests_next(scene.state) if sources else "":
        used = [other for path in sources for other in scene.code.imports(path) if not is_test_code(other)]
        found = rank_nearest_tests(scene, sources) or rank_nearest_tests(scene, used)
        yield from (Item("beside", path, why) for path in found[:1])


def explain_tests_next(state: State) -> str:
    """Why tests are next: the plan says so, all else looks done, or the code was just changed and its tests were not."""
    if any(TEST_WORD.search(item.text) for item in state.plan if not item.done):
        return "your plan speaks of tests"
    if state.phase == "verify":
        return "phase verify"
    steps = {is_test_code(one.path): one.step for one in sorted(state.regions, key=lambda one: one.step) if one.changed}
    return "the code was just changed" if steps.get(False, 0) > max(steps.get(True, 0), state.step - RECENT_STEPS) else ""


def rank_nearest_tests(scene: WorkFocus, sources: Sequence[str]) -> list[str]:
    """Those that the work has touched, that are called after one of the sources, that cover most of them."""
    covers = {path: [test for test in scene.code.tests_of(path) if is_test_file(test)] for path in sources}
    touched, names = {one.path for one in scene.state.regions}, {PurePosixPath(path).stem for path in sources}
    counts = {test: sum(test in tests for tests in covers.values()) for found in covers.values() for test in found}
    return sorted(
        counts,
        key=lambda test: (test not in touched, not any(one in PurePosixPath(test).stem for one in names), -counts[test], test),
    )
