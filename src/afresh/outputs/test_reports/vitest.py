"""Runs of vitest."""

import re
from collections.abc import Iterator, Sequence

from afresh.core.command_output import CommandOutput, OutputReading
from afresh.outputs.test_reports.outcomes import FailingTest, OutcomeCounts, RunnerReport, reading_from_test_run

TEST_COUNTS_LINE = re.compile(r"^\s+Tests  (.+)$")
OUTCOME_COUNT = re.compile(r"(\d+) (failed|passed|skipped|todo)")
FAILED_TEST_LINE = re.compile(r"^ FAIL  (?:\|?[\w-]+\|? )?(\S+\.\w+)(?: \[ .* \]| > (.+))?$")
PASSED_FILE_LINE = re.compile(r"^ [✓√] (?:\|?[\w-]+\|? )?(\S+\.\w+) \(\d+ tests?\)")
FAILURE_PLACE = re.compile(r"^ ❯ (?:\S+ )?(\S+):(\d+):\d+$")
MAX_MESSAGE_LINES = 20
BROKEN_SUITE = "suite failed to run"


def read_vitest_run(output: CommandOutput) -> OutputReading | None:
    said = next((match for line in output.lines if (match := TEST_COUNTS_LINE.match(line))), None)
    failing = list({one.test: one for one in parse_vitest_failures(output)}.values())
    if said is None and not failing:
        return None
    counted = {word: int(number) for number, word in OUTCOME_COUNT.findall(said[1])} if said else {}
    broken = sum(one.test.endswith(f"::{BROKEN_SUITE}") for one in failing)
    failed = counted.get("failed", 0) + broken if said else len(failing)
    counts = OutcomeCounts(failed, counted.get("passed", 0), counted.get("skipped", 0) + counted.get("todo", 0))
    return reading_from_test_run(
        RunnerReport("vitest", counts, frozenset(find_passing_vitest_files(output.lines)), said is not None), failing
    )


def parse_vitest_failures(output: CommandOutput) -> Iterator[FailingTest]:
    """` FAIL  file > suite > test`, the message in the next line, the place some lines below it."""
    lines = output.lines
    for place, line in enumerate(lines):
        match = FAILED_TEST_LINE.match(line)
        if match and place + 1 < len(lines):
            last, where = find_failure_place(lines, place + 1)
            name = match[2].replace(" > ", " › ") if match[2] else BROKEN_SUITE
            message = lines[place + 1].strip().partition(" // ")[0]
            yield FailingTest(f"{match[1]}::{name}", f"{message}{where}", output.span(place, last))


def find_failure_place(lines: Sequence[str], start: int) -> tuple[int, str]:
    for place in range(start, min(len(lines), start + MAX_MESSAGE_LINES)):
        if match := FAILURE_PLACE.match(lines[place]):
            return place, f" at {match[1]}:{match[2]}"
        if lines[place].startswith((" FAIL ", "⎯⎯")):
            break
    return start, ""


def find_passing_vitest_files(lines: Sequence[str]) -> Iterator[str]:
    return (match[1] for line in lines if (match := PASSED_FILE_LINE.match(line)))
