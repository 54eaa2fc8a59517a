"""Fixtures of the tests that fail: what they hand in belongs to what is expected."""

import re
from collections.abc import Iterator

from afresh.domain.code import SymbolPlace, Symbol
from afresh.domain.fact import Item
from afresh.insight.looks.expectations import list_requested_fixtures
from afresh.insight.looks.scene import WorkFocus

MAX_FAILING_TESTS = 3
MAX_FIXTURE_LINES = 20
"""Failing tests that are looked at, and lines of a fixture."""


def gather_fixtures(scene: WorkFocus) -> Iterator[Item]:
    shown: set[SymbolPlace] = set()
    for path, test in find_failing_tests(scene):
        for name in list_requested_fixtures(test):
            place = next(
                (one for one in scene.code.defining(name) if is_fixture(scene, one) and is_visible_fixture(one.path, path)), None
            )
            if place and place not in shown and not scene.seen(place.path, place.symbol.line, place.symbol.end):
                shown.add(place)
                end = min(place.symbol.end, place.symbol.line + MAX_FIXTURE_LINES - 1)
                subject = f"{place.path}:{place.symbol.line}-{end} {name}, fixture of {test.short}"
                yield Item("fixture", subject, scene.source(place.path, place.symbol.line, end))


def find_failing_tests(scene: WorkFocus) -> Iterator[tuple[str, Symbol]]:
    state = scene.state
    runs = state.verdict.runs if state.verdict else state.baseline.runs if state.baseline else ()
    for failure in [one for run in runs for one in run.failures if "::" in one.test][:MAX_FAILING_TESTS]:
        path, *names = failure.test.split("[")[0].split("::")
        held = scene.code.reading(path).symbols if path in scene.code.files else ()
        yield from ((path, one) for one in held if one.name == ".".join(names))


def is_fixture(scene: WorkFocus, place: SymbolPlace) -> bool:
    lines = scene.code.text(place.path).splitlines()[place.symbol.line - 1 : place.symbol.end]
    return bool(lines) and bool(re.match(r"\s*@(?:pytest\.|pytest_asyncio\.)?fixture\b", lines[0]))


def is_visible_fixture(fixture: str, test: str) -> bool:
    """In the same file, or in a conftest.py of a folder above."""
    folder, _, name = fixture.rpartition("/")
    return fixture == test or (name == "conftest.py" and test.startswith(f"{folder}/" if folder else ""))
