"""Parses runs of jest and vitest: their text, and the JSON report that both write."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from afresh.core.command_output import CommandOutput, OutputReading
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
    name_in_file,
    reading_from_test_run,
)

TEST_COUNTS_LINE = re.compile(r"^Tests:\s+(\d.*) total$")
OUTCOME_COUNT = re.compile(r"(?<!\d)(\d+) (failed|passed|skipped|todo)")
TEST_FILE_LINE = re.compile(r"^(FAIL|PASS) (?:\[?\w+\]? )?(\S+\.\w+)(?: \([\d.]+ m?s\))?$")
FAILURE_BULLET = "  ● "
BROKEN_SUITE = "Test suite failed to run"
MARKED_TEST_LINE = re.compile(r"^( +)([✓✔√✕✗×○✎]) (?:skipped |todo )?(.+)$")
DURATION_SUFFIX = re.compile(r" \(\d[\d.]* m?s\)$")
COMPARISON_LINE = re.compile(r"^(?:Expected|Received|Difference)\b.*: \S|^(?:Expected|Received) ")
MAX_MESSAGE_LINES = 14
"""Lines after a test's name that may contain its message."""
ASIDE_BULLETS = ("Console", "Validation Warning", "Deprecation Warning", "Cannot log after tests are done")
INTERRUPTED_RUN = re.compile(r"^(?:Test Suites:.*\bobsolete|Aborting|Bail out|● .*\bbail)")


def read_jest_run(output: CommandOutput) -> OutputReading | None:
    found = parse_jest_run(output)
    return reading_from_test_run(*found) if found else None


def parse_jest_run(output: CommandOutput) -> tuple[RunnerReport, list[FailingTest]] | None:
    said = next((match for line in output.lines if (match := TEST_COUNTS_LINE.match(line))), None)
    failing = list({one.test: one for one in parse_jest_failures(output)}.values())
    if said is None and not failing:
        return None
    counted = {word: int(number) for number, word in OUTCOME_COUNT.findall(said[1])} if said else {"failed": len(failing)}
    broken = sum(one.test.rpartition("::")[2] == BROKEN_SUITE for one in failing)
    skipped = counted.get("skipped", 0) + counted.get("todo", 0)
    counts = OutcomeCounts(counted.get("failed", 0) + broken, counted.get("passed", 0), skipped)
    whole = said is not None and not any(INTERRUPTED_RUN.match(line) for line in output.lines)
    return RunnerReport("jest", counts, frozenset(find_passing_jest_tests(output.lines)), whole), failing


def parse_jest_failures(output: CommandOutput) -> Iterator[FailingTest]:
    """Yield each `● suite › test` of a failed file, with the message below it."""
    file = ""
    for place, line in enumerate(output.lines):
        if match := TEST_FILE_LINE.match(line):
            file = match[2]
        elif file and line.startswith(FAILURE_BULLET) and not line[len(FAILURE_BULLET) :].startswith(ASIDE_BULLETS):
            name = line[len(FAILURE_BULLET) :]
            message, last = parse_failure_message(output.lines, place + 1)
            yield FailingTest(f"{file}::{name}", message, output.span(place, last))


def parse_failure_message(lines: Sequence[str], start: int) -> tuple[str, int]:
    """Return the first line of a message with the expected and received values, and where it ends."""
    kept, last = list[str](), start - 1
    for place in range(start, min(len(lines), start + MAX_MESSAGE_LINES)):
        line = lines[place].strip()
        if line.startswith(("at ", "●", "> ")) or re.match(r"\d+ \|", line):
            break
        if line and (not kept or COMPARISON_LINE.match(line)):
            kept.append(line.partition(" // ")[0])
            last = place
    return ", ".join(kept), last


def find_passing_jest_tests(lines: Sequence[str]) -> Iterator[str]:
    """Yield files that pass as a whole, and tests that are marked as passed under their suites."""
    file, suites = "", list[tuple[int, str]]()
    for line in lines:
        if match := TEST_FILE_LINE.match(line):
            file, suites = match[2], []
            if match[1] == "PASS":
                yield file
        elif match := MARKED_TEST_LINE.match(line):
            if file and match[2] in "✓✔√":
                above = [name for depth, name in suites if depth < len(match[1])]
                yield f"{file}::{' › '.join([*above, DURATION_SUFFIX.sub('', match[3])])}"
        elif line.startswith("  ") and not line.startswith(FAILURE_BULLET):
            depth = len(line) - len(line.lstrip())
            suites = [*[one for one in suites if one[0] < depth], (depth, line.strip())][:12]
        elif line:
            file = ""


VITEST_COUNTS_LINE = re.compile(r"^\s+Tests  (.+)$")
FAILED_TEST_LINE = re.compile(r"^ FAIL  (?:\|?[\w-]+\|? )?(\S+\.\w+)(?: \[ .* \]| > (.+))?$")
PASSED_FILE_LINE = re.compile(r"^ [✓√] (?:\|?[\w-]+\|? )?(\S+\.\w+) \(\d+ tests?\)")
FAILURE_PLACE = re.compile(r"^ ❯ (?:\S+ )?(\S+):(\d+):\d+$")
MAX_VITEST_MESSAGE_LINES = 20
BROKEN_VITEST_SUITE = "suite failed to run"


def read_vitest_run(output: CommandOutput) -> OutputReading | None:
    found = parse_vitest_run(output)
    return reading_from_test_run(*found) if found else None


def parse_vitest_run(output: CommandOutput) -> tuple[RunnerReport, list[FailingTest]] | None:
    said = next((match for line in output.lines if (match := VITEST_COUNTS_LINE.match(line))), None)
    failing = list({one.test: one for one in parse_vitest_failures(output)}.values())
    if said is None and not failing:
        return None
    counted = {word: int(number) for number, word in OUTCOME_COUNT.findall(said[1])} if said else {}
    broken = sum(one.test.endswith(f"::{BROKEN_VITEST_SUITE}") for one in failing)
    failed = counted.get("failed", 0) + broken if said else len(failing)
    counts = OutcomeCounts(failed, counted.get("passed", 0), counted.get("skipped", 0) + counted.get("todo", 0))
    return RunnerReport("vitest", counts, frozenset(find_passing_vitest_files(output.lines)), said is not None), failing


def parse_vitest_failures(output: CommandOutput) -> Iterator[FailingTest]:
    """Yield each ` FAIL  file > suite > test`, with the message on the next line and the place some lines below."""
    lines = output.lines
    for place, line in enumerate(lines):
        match = FAILED_TEST_LINE.match(line)
        if match and place + 1 < len(lines):
            last, where = find_failure_place(lines, place + 1)
            name = match[2].replace(" > ", " › ") if match[2] else BROKEN_VITEST_SUITE
            message = lines[place + 1].strip().partition(" // ")[0]
            yield FailingTest(f"{match[1]}::{name}", f"{message}{where}", output.span(place, last))


def find_failure_place(lines: Sequence[str], start: int) -> tuple[int, str]:
    for place in range(start, min(len(lines), start + MAX_VITEST_MESSAGE_LINES)):
        if match := FAILURE_PLACE.match(lines[place]):
            return place, f" at {match[1]}:{match[2]}"
        if lines[place].startswith((" FAIL ", "⎯⎯")):
            break
    return start, ""


def find_passing_vitest_files(lines: Sequence[str]) -> Iterator[str]:
    return (match[1] for line in lines if (match := PASSED_FILE_LINE.match(line)))


OUTCOME_BY_STATUS = {"passed": PASSED, "failed": FAILED}
"""All other words mean that the test did not run."""


def parse_jest_report(text: str) -> Iterator[ReportedTest]:
    """Yield each test of a JSON report. A file that can't be loaded is an error by its own name. ValueError if it is none."""
    for file in read_foreign_json(text)["testResults"]:
        path, tests = str(file["name"]), file["assertionResults"]
        for test in tests:
            yield _parse_jest_test(test, path)
        if file.get("status") == "failed" and not any(test["status"] == "failed" for test in tests):
            yield ReportedTest(name_in_file(path, ()), ERROR, str(file.get("message", "")))


def _parse_jest_test(test: dict[str, Any], path: str) -> ReportedTest:
    name = name_in_file(path, (*test["ancestorTitles"], test["title"]))
    text = "\n".join(map(str, test.get("failureMessages") or ()))
    return ReportedTest(name, OUTCOME_BY_STATUS.get(test["status"], SKIPPED), text)
