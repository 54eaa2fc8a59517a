"""Runs of `go test -json`: one event a line."""

import json
from collections.abc import Iterator
from typing import Any, cast

from afresh.engine.extract.go_run import BUILD, Told, counted, passing, told
from afresh.engine.extract.output import Output
from afresh.engine.extract.reading import Reading
from afresh.engine.extract.runs import Failing

OUTCOMES = {"pass": "PASS", "fail": "FAIL", "skip": "SKIP"}
PACKAGES = {"pass": "ok", "fail": "FAIL", "skip": "?"}
FRAMES = ("=== ", "--- ")


def read_go_events(output: Output) -> Reading | None:
    packages, done = dict[str, Told](), list[tuple[str, str]]()
    for place, event in events(output):
        action, package, test = (str(event.get(name, "")) for name in ("Action", "Package", "Test"))
        now = packages.setdefault(package or str(event.get("ImportPath", "")).partition(" ")[0], Told())
        if action in ("output", "build-output"):
            listen(now, test, place, str(event.get("Output", "")))
        elif action in OUTCOMES and test:
            now.outcomes[test] = OUTCOMES[action]
            now.places.setdefault(test, place)
        elif action in PACKAGES:
            done.append((PACKAGES[action], package))
    if not done and not any(now.outcomes for now in packages.values()):
        return None
    ended, tally = dict((package, outcome) for outcome, package in done), [0, 0, 0]
    failing, fine = list[Failing](), set[str]()
    for package, now in packages.items():
        failing += now.failing(output, package)
        tally = counted(tally, now)
        fine |= passing(ended.get(package, ""), package, now)
    return told(done, tally, failing, fine)


def listen(now: Told, test: str, place: int, line: str) -> None:
    if match := BUILD.match(line.rstrip()):
        now.faults.setdefault(match[1], (match[2], place))
    elif test and not line.lstrip().startswith(FRAMES):
        now.note(test, place, line)
        now.places.setdefault(test, place)


def events(output: Output) -> Iterator[tuple[int, dict[str, Any]]]:
    for place, line in enumerate(output.lines):
        if line.startswith('{"') and '"Action":"' in line:
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield place, cast(dict[str, Any], found)
