"""The file of tests that is nearest to what was changed, while tests are what comes next."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from afresh.domain.fact import Look
from afresh.domain.paths import holds_tests, is_test
from afresh.domain.state import State
from afresh.insight.looks.scene import Scene

LATELY = 3
"""Steps."""
TESTS = re.compile(r"\btest(?:s|ed|ing)?\b", re.IGNORECASE)


def beside(scene: Scene) -> Iterator[Look]:
    """New code that no test knows yet is tested as what it uses is."""
    sources = [path for path in scene.state.changed if path in scene.code.files and not is_test(path)]
    if why := tests_next(scene.state) if sources else "":
        used = [other for path in sources for other in scene.code.imports(path) if not is_test(other)]
        found = nearest(scene, sources) or nearest(scene, used)
        yield from (Look("beside", path, why) for path in found[:1])


def tests_next(state: State) -> str:
    """Why tests are next: the plan says so, all else looks done, or the code was just changed and its tests were not."""
    if any(TESTS.search(item.text) for item in state.plan if not item.done):
        return "your plan speaks of tests"
    if state.phase == "verify":
        return "phase verify"
    steps = {is_test(one.path): one.step for one in sorted(state.regions, key=lambda one: one.step) if one.changed}
    return "the code was just changed" if steps.get(False, 0) > max(steps.get(True, 0), state.step - LATELY) else ""


def nearest(scene: Scene, sources: Sequence[str]) -> list[str]:
    """Those that the work has touched, that are called after one of the sources, that cover most of them."""
    covers = {path: [test for test in scene.code.tests_of(path) if holds_tests(test)] for path in sources}
    touched, names = {one.path for one in scene.state.regions}, {PurePosixPath(path).stem for path in sources}
    counts = {test: sum(test in tests for tests in covers.values()) for found in covers.values() for test in found}
    return sorted(
        counts,
        key=lambda test: (test not in touched, not any(one in PurePosixPath(test).stem for one in names), -counts[test], test),
    )
