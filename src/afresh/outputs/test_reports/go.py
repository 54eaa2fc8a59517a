"""Parses runs of go test, plain, verbose or as JSON events (`read_go_events`)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from afresh.core.command_output import (
    CommandOutput,
    OutputFinding,
    OutputReading,
    format_plural,
    mask_volatile_names,
    truncate_to_one_line,
)
from afresh.core.text import read_foreign_json
from afresh.outputs.test_reports.outcomes import (
    ERROR,
    FAILED,
    PASSED,
    SKIPPED,
    FailingTest,
    OutcomeCounts,
    ReportedTest,
    RunnerReport,
    reading_from_test_run,
)

PACKAGE_LINE = re.compile(r"^(ok|FAIL|\?)\s+(\S+)\s+(?:[\d.]+s|\(cached\)|\[([^\]]+)\])")
TEST_OUTCOME_LINE = re.compile(r"^ *--- (FAIL|PASS|SKIP): (\S+) \([\d.]+s\)$")
TEST_FRAME_LINE = re.compile(r"^=== (?:RUN|CONT|NAME|PAUSE) +(\S+)$")
COMPILE_ERROR_LINE = re.compile(r"^(?:vet: )?(?:\./)?(\S+\.go:\d+):\d+: (.+)$")
LINES_WITHOUT_REASON = ("", "FAIL", "PASS")
MAX_NOTED_LINES = 12
"""Lines of a test in which the reason of its failure is searched."""


@dataclass(slots=True)
class GoPackageResults:
    """Results of a package's tests, collected until the line of the package itself."""

    outcomes: dict[str, str] = field(default_factory=dict[str, str])
    notes: dict[str, list[tuple[int, str]]] = field(default_factory=dict[str, list[tuple[int, str]]])
    places: dict[str, int] = field(default_factory=dict[str, int])
    faults: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    """Compile errors, by place."""

    def note(self, test: str, place: int, line: str) -> None:
        noted = self.notes.setdefault(test, [])
        if len(noted) < MAX_NOTED_LINES and line.strip() not in LINES_WITHOUT_REASON:
            noted.append((place, line.strip()))

    def failing(self, output: CommandOutput, package: str) -> Iterator[FailingTest]:
        """Yield the failing tests, without those that fail only because of a subtest."""
        failed = [test for test, outcome in self.outcomes.items() if outcome == "FAIL"]
        parents = {test.rpartition("/")[0] for test in failed}
        for test in [one for one in failed if one not in parents]:
            said = find_failure_reason(self.notes.get(test, ()))
            place = self.places[test]
            first, last = (said[0][0], said[-1][0]) if said else (place, place)
            message = ", ".join(line.partition(" [recovered")[0] for _, line in said)
            yield FailingTest(
                f"{package}::{test}" if package else test, message, output.span(min(first, place), max(last, place))
            )
        for where, (message, place) in self.faults.items():
            yield FailingTest(where, message, output.span(place))

    def count(self, outcome: str) -> int:
        return sum(found == outcome for found in self.outcomes.values())


def find_failure_reason(notes: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the first line that names a place or a panic, otherwise the first line."""
    said = [note for note in notes if re.match(r"\S+\.go:\d+: |panic: ", note[1])] or list(notes)
    return said[:1]


def read_go_run(output: CommandOutput) -> OutputReading | None:
    """Return the reading of a run. A package's line comes after its tests."""
    now, done, failing, fine = GoPackageResults(), list[tuple[str, str]](), list[FailingTest](), set[str]()
    tally = [0, 0, 0]
    owner = ""
    for place, line in enumerate(output.lines):
        if match := PACKAGE_LINE.match(line):
            done.append((match[1], match[2]))
            failing += now.failing(output, match[2])
            tally = add_outcome_counts(tally, now)
            fine |= find_passing_go_tests(match[1], match[2], now)
            now, owner = GoPackageResults(), ""
        else:
            owner = take_output_line(now, place, line, owner)
    if not done and not now.outcomes:
        return None
    failing += now.failing(output, "")
    return reading_from_packages(done, add_outcome_counts(tally, now), failing, fine)


def take_output_line(now: GoPackageResults, place: int, line: str, owner: str) -> str:
    """Record a line, and return the test that the next line belongs to."""
    if match := TEST_FRAME_LINE.match(line):
        return match[1]
    if match := TEST_OUTCOME_LINE.match(line):
        now.outcomes[match[2]] = match[1]
        now.places[match[2]] = place
        return match[2]
    if match := COMPILE_ERROR_LINE.match(line):
        now.faults.setdefault(match[1], (match[2], place))
    elif owner:
        now.note(owner, place, line)
    return owner


def add_outcome_counts(tally: list[int], now: GoPackageResults) -> list[int]:
    return [number + now.count(outcome) for number, outcome in zip(tally, ("FAIL", "PASS", "SKIP"), strict=True)]


def find_passing_go_tests(outcome: str, package: str, now: GoPackageResults) -> set[str]:
    """Return the passing tests by name, and the package itself if it is `ok`."""
    named = {f"{package}::{test}" for test, said in now.outcomes.items() if said == "PASS"}
    return named | ({package} if outcome == "ok" else set())


def reading_from_packages(
    done: list[tuple[str, str]], tally: list[int], failing: list[FailingTest], fine: set[str]
) -> OutputReading:
    """Return a reading with counts by package, where passing tests are not named."""
    _, passed, skipped = tally
    whole, broken = (sum(outcome == word for outcome, _ in done) for word in ("ok", "FAIL"))
    tests = sum(".go:" not in one.test for one in failing)
    parts = [f"{format_plural(broken, 'package')} failed" if broken and not tests else ""]
    parts += [format_plural(len(failing) - tests, "compile error") if len(failing) > tests else ""]
    parts += [f"{format_plural(whole, 'package')} ok" if whole and not passed else ""]
    counts = OutcomeCounts(tests, passed, skipped, ", ".join(filter(None, parts)))
    return reading_from_test_run(RunnerReport("go test", counts, frozenset(fine), bool(done)), failing)


OUTCOME_BY_ACTION = {"pass": "PASS", "fail": "FAIL", "skip": "SKIP"}
PACKAGE_OUTCOME_BY_ACTION = {"pass": "ok", "fail": "FAIL", "skip": "?"}
FRAME_PREFIXES = ("=== ", "--- ")


def read_go_events(output: CommandOutput) -> OutputReading | None:
    packages, done = collect_go_events(output)
    if not done and not any(now.outcomes for now in packages.values()):
        return None
    ended, tally = dict((package, outcome) for outcome, package in done), [0, 0, 0]
    failing, fine = list[FailingTest](), set[str]()
    for package, now in packages.items():
        failing += now.failing(output, package)
        tally = add_outcome_counts(tally, now)
        fine |= find_passing_go_tests(ended.get(package, ""), package, now)
    return reading_from_packages(done, tally, failing, fine)


def collect_go_events(output: CommandOutput) -> tuple[dict[str, GoPackageResults], list[tuple[str, str]]]:
    """Return the results by package, and how each package ended."""
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
    return packages, done


REPORTED_OUTCOMES = {"PASS": PASSED, "FAIL": FAILED, "SKIP": SKIPPED}


def parse_go_report(output: CommandOutput) -> Iterator[ReportedTest]:
    """Yield each test of a run with `-json` or `-v`. A package that fails without a failing test is an error by its own name."""
    packages, done = collect_go_events(output)
    for package, now, ended in (*((name, packages.get(name), ended) for ended, name in done), *collect_go_lines(output)):
        found = list(report_go_package(package, now)) if now else []
        yield from found
        if ended == "FAIL" and not any(one.outcome == FAILED for one in found):
            said = [f"{place}: {message}" for place, (message, _) in (now.faults.items() if now else ())]
            yield ReportedTest(package, ERROR, "\n".join(said or [line for _, line in (now.notes.get("", ()) if now else ())]))


def report_go_package(package: str, now: GoPackageResults) -> Iterator[ReportedTest]:
    """Yield tests without subtests, and others only if they fail by themselves: a new subtest that fails breaks no old test."""
    parents = {test[:cut] for test in now.outcomes for cut, sign in enumerate(test) if sign == "/"}
    failed = [test for test, outcome in now.outcomes.items() if outcome == "FAIL"]
    for test, outcome in now.outcomes.items():
        alone = outcome == "FAIL" and not any(one.startswith(f"{test}/") for one in failed)
        if test not in parents or alone:
            text = "\n".join(line for _, line in now.notes.get(test, ()))
            yield ReportedTest(f"{package}::{test}", REPORTED_OUTCOMES[outcome], text)


def collect_go_lines(output: CommandOutput) -> Iterator[tuple[str, GoPackageResults, str]]:
    """Yield each package of a plain run, with its results and how it ended."""
    now, owner = GoPackageResults(), ""
    for place, line in enumerate(output.lines):
        if line.startswith('{"'):
            continue
        if match := PACKAGE_LINE.match(line):
            yield match[2], now, match[1]
            now, owner = GoPackageResults(), ""
        else:
            owner = take_output_line(now, place, line, owner)


def take_event_output(now: GoPackageResults, test: str, place: int, line: str) -> None:
    if match := COMPILE_ERROR_LINE.match(line.rstrip()):
        now.faults.setdefault(match[1], (match[2], place))
    elif not line.lstrip().startswith(FRAME_PREFIXES):
        now.note(test, place, line)
        now.places.setdefault(test, place)


def parse_go_events(output: CommandOutput) -> Iterator[tuple[int, dict[str, Any]]]:
    for place, line in enumerate(output.lines):
        if line.startswith('{"') and '"Action":"' in line:
            try:
                found = read_foreign_json(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                yield place, cast(dict[str, Any], found)


PANIC_LINE = re.compile(r"^(?:panic|fatal error): (.+)$")
GOROUTINE_LINE = re.compile(r"^goroutine \d+ (?:gp=\S+ m=\S+ )?(?:mp=\S+ )?\[")
STACK_PLACE = re.compile(r"^\s+(\S+\.go):(\d+)(?: \+0x[0-9a-f]+)?$")
GO_LIBRARIES = ("runtime.", "testing.", "panic(", "created by ", "reflect.", "net/http.")
MAX_LINES_BEFORE_STACK = 6
MAX_STACK_LINES = 60
"""Lines between a panic and its stack, and lines of the stack that are searched."""


def read_go_panic(output: CommandOutput) -> OutputReading | None:
    lines = output.lines
    for place, line in enumerate(lines):
        if (match := PANIC_LINE.match(line)) and any(
            GOROUTINE_LINE.match(after) for after in lines[place + 1 : place + MAX_LINES_BEFORE_STACK]
        ):
            where, last = find_own_frame(lines, place + 1)
            told = truncate_to_one_line(
                f"panic: {truncate_to_one_line(mask_volatile_names(match[1].partition(' [recovered')[0]), 110)}{where}", 200
            )
            return OutputReading(told, (OutputFinding("", told, 0.9, output.span(place, last)),))
    return None


def find_own_frame(lines: Sequence[str], start: int) -> tuple[str, int]:
    """Return the first stack frame outside libraries: a function, with its place on the next line."""
    for place in range(start, min(len(lines), start + MAX_STACK_LINES) - 1):
        match = STACK_PLACE.match(lines[place + 1])
        if match and lines[place] and not lines[place].startswith(GO_LIBRARIES) and not lines[place][0].isspace():
            function = lines[place].partition("(")[0].rpartition("/")[2]
            return f" at {mask_volatile_names(match[1])}:{match[2]} in {function}", place + 1
    return "", start - 1
