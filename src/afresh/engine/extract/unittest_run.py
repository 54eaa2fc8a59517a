"""Runs of the standard library's unittest, and of what is built on it."""

import re
from collections.abc import Sequence

from afresh.domain.verdict import FailedTest
from afresh.engine.extract.output import CommandOutput
from afresh.engine.extract.reading import MAX_FINDINGS, OutputReading
from afresh.engine.extract.runs import OutcomeCounts, FailingTest, RunnerReport, reading_from_test_run
from afresh.engine.verify.unittest_output import read_unittest_outcomes

FAILURE_HEADING = re.compile(r"^(?:FAIL|ERROR): \S")
TRACEBACK_RULE = "=" * 20


def read_unittest_run(output: CommandOutput) -> OutputReading | None:
    outcomes = read_unittest_outcomes(output.text)
    if outcomes is None or not outcomes.readable:
        return None
    counts = OutcomeCounts(outcomes.failed, outcomes.passed, outcomes.skipped)
    run = RunnerReport("unittest", counts, outcomes.passing, complete=True)
    return reading_from_test_run(run, locate_unittest_failures(output, outcomes.failures[:MAX_FINDINGS]), outcomes.failing)


def locate_unittest_failures(output: CommandOutput, failures: Sequence[FailedTest]) -> list[FailingTest]:
    """Failures stand in the order of their headings."""
    lines = output.lines
    heads = [
        place
        for place in range(1, len(lines))
        if lines[place - 1].startswith(TRACEBACK_RULE) and FAILURE_HEADING.match(lines[place])
    ] + [len(lines)]
    pairs = zip(heads, heads[1:], failures, strict=False)
    return [FailingTest(one.test, one.message, find_unittest_failure_lines(output, one, start, end)) for start, end, one in pairs]


def find_unittest_failure_lines(output: CommandOutput, failure: FailedTest, start: int, end: int) -> tuple[int, int]:
    """From the heading to the line that says what was raised."""
    said = [place for place in range(start, end) if failure.message and output.lines[place].startswith(failure.message)]
    return output.span(start, said[-1] if said else start)
