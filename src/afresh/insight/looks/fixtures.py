"""Fixtures of the tests that fail: what they hand in belongs to what is expected."""

import re
from collections.abc import Iterator

from afresh.domain.code import Place, Symbol
from afresh.domain.fact import Look
from afresh.insight.looks.expectations import asked_for
from afresh.insight.looks.scene import Scene

TESTS = 3
LINES = 20
"""Failing tests that are looked at, and lines of a fixture."""


def fixtures(scene: Scene) -> Iterator[Look]:
    shown: set[Place] = set()
    for path, test in failing(scene):
        for name in asked_for(test):
            place = next((one for one in scene.code.defining(name) if is_fixture(scene, one) and near(one.path, path)), None)
            if place and place not in shown and not scene.seen(place.path, place.symbol.line, place.symbol.end):
                shown.add(place)
                end = min(place.symbol.end, place.symbol.line + LINES - 1)
                subject = f"{place.path}:{place.symbol.line}-{end} {name}, fixture of {test.short}"
                yield Look("fixture", subject, scene.source(place.path, place.symbol.line, end))


def failing(scene: Scene) -> Iterator[tuple[str, Symbol]]:
    state = scene.state
    runs = state.verdict.runs if state.verdict else state.baseline.runs if state.baseline else ()
    for failure in [one for run in runs for one in run.failures if "::" in one.test][:TESTS]:
        path, *names = failure.test.split("[")[0].split("::")
        held = scene.code.reading(path).symbols if path in scene.code.files else ()
        yield from ((path, one) for one in held if one.name == ".".join(names))


def is_fixture(scene: Scene, place: Place) -> bool:
    lines = scene.code.text(place.path).splitlines()[place.symbol.line - 1 : place.symbol.end]
    return bool(lines) and bool(re.match(r"\s*@(?:pytest\.|pytest_asyncio\.)?fixture\b", lines[0]))


def near(fixture: str, test: str) -> bool:
    """In the same file, or in a conftest.py of a folder above."""
    folder, _, name = fixture.rpartition("/")
    return fixture == test or (name == "conftest.py" and test.startswith(f"{folder}/" if folder else ""))
