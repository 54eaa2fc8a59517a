"""Runs of `go test -json`: one event a line."""

import json
from collections.abc import Iterator
from typing import Any, cast

from afresh.engine.extract.go_run import (
    COMPILE_ERROR_LINE,
    GoPackageResults,
    add_outcome_counts,
    find_passing_go_tests,
    reading_from_packages,
)
from afresh.engine.extract.output import CommandOutput
from afresh.engine.extract.reading import OutputReading
from afresh.engine.extract.runs import FailingTest

OUTCOME_BY_ACTION = {"pass": "PASS", "fail": "FAIL", "skip": "SKIP"}
PACKAGE_OUTCOME_BY_ACTION = {"pass": "ok", "fail": "FAIL", "skip": "?"}
FRAME_PREFIXES = ("=== ", "--- ")


def read_go_events(output: CommandOutput) -> OutputReading | None:
    packages, done = dict[str, GoPackageResults](), list[tuple[str, str]]()
    for place, event in parse_go_events(output):
        action, package, test = (str(event.get(name, "")) for name in ("Action", "Package", "Test"))
        now = packages.setdefault(package or str(event.get("ImportPath", "")).partition(" ")[0], GoPackageResults())
        if action in ("output", "build-output"):
            take_event_output(now, test, place, str(event.get("Output", "")))
        elif action in OUTCOME_BY_ACTION and test:
            now.outcomes[test] = OUTCOME_BY_ACTION[action]
            now.places.setdefault(test, place)
        elif action in PACKAGE_OUTCOME_BY_ACTION:
            done.append((PACKAGE_OUTCOME_BY_ACTION[action], package))
    if not done and not any(now.outcomes for now in packages.values()):
        return None
    ended, tally = dict((package, outcome) for outcome, package in done), [0, 0, 0]
    failing, fine = list[FailingTest](), set[str]()
    for package, now in packages.items():
        failing += now.failing(output, package)
        tally = add_outcome_counts(tally, now)
        fine |= find_passing_go_tests(ended.get(package, ""), package, now)
    return reading_from_packages(done, tally, failing, fine)


def take_event_output(now: GoPackageResults, test: str, place: int, line: str) -> None:
    if match := COMPILE_ERROR_LINE.match(line.rstrip()):
        now.faults.setdefault(match[1], (match[2], place))
    elif test and not line.lstrip().startswith(FRAME_PREFIXES):
        now.note(test, place, line)
        now.places.setdefault(test, place)


def parse_go_events(output: CommandOutput) -> Iterator[tuple[int, dict[str, Any]]]:
    for place, line in enumerate(output.lines):
        if line.startswith('{"') and '"Action":"' in line:
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield place, cast(dict[str, Any], found)
