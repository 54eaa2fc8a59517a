"""Runs of pytest."""

import re
from collections.abc import Sequence

from afresh.domain.verdict import FailedTest
from afresh.engine.extract.output import CommandOutput
from afresh.engine.extract.reading import MAX_FINDINGS, OutputReading
from afresh.engine.extract.runs import OutcomeCounts, FailingTest, RunnerReport, reading_from_test_run
from afresh.engine.verify.pytest_output import TRACEBACK_TITLE, read_pytest_outcomes, traceback_title_from_test

FAILURE_SUMMARY_LINE = re.compile(r"^(?:FAILED|ERROR) (\S+::\S+)(?: - (.*))?$")
"""The line of the summary, which may be all that is left of a shortened output."""
PASSED_TEST_LINE = re.compile(r"^(?:\[gw\d+\] \[ *\d+%\] PASSED (\S+::\S.*)|(\S+::\S.*) PASSED(?: +\[ *\d+%\])?)$")
"""Of a verbose run, with xdist or without."""
INTERRUPTED_RUN = re.compile(r"^!+ .*(?:Interrupted|stopping after|KeyboardInterrupt)|^ERROR collecting|no tests ran")


def read_pytest_run(output: CommandOutput) -> OutputReading | None:
    outcomes = read_pytest_outcomes(output.text)
    if outcomes is None or not outcomes.readable:
        return None
    failures = outcomes.failures or tuple(
        FailedTest(match[1], match[2] or "") for line in output.lines if (match := FAILURE_SUMMARY_LINE.match(line))
    )
    counts = OutcomeCounts(outcomes.failed, outcomes.passed, outcomes.skipped)
    whole = not any(INTERRUPTED_RUN.search(line) for line in output.lines)
    ticked = [match[1] or match[2] for line in output.lines if (match := PASSED_TEST_LINE.match(line))]
    run = RunnerReport("pytest", counts, outcomes.passing.union(ticked), whole)
    return reading_from_test_run(run, locate_pytest_failures(output, failures[:MAX_FINDINGS]), [one.test for one in failures])


def locate_pytest_failures(output: CommandOutput, failures: Sequence[FailedTest]) -> list[FailingTest]:
    """Each with the lines that say so: those of its traceback, else that of the summary."""
    sections = locate_tracebacks(output.lines)
    return [FailingTest(one.test, one.message, find_pytest_failure_lines(output, one, sections)) for one in failures]


def locate_tracebacks(lines: Sequence[str]) -> list[tuple[str, int, int]]:
    """The title of each traceback, and where it begins and ends."""
    starts = [
        (match[1], place) for place, line in enumerate(lines) if line.startswith("_") and (match := TRACEBACK_TITLE.match(line))
    ]
    ends = [place for _, place in starts[1:]] + [len(lines)]
    return [(name, start, end) for (name, start), end in zip(starts, ends, strict=False)]


def find_pytest_failure_lines(
    output: CommandOutput, failure: FailedTest, sections: list[tuple[str, int, int]]
) -> tuple[int, int]:
    wanted, lines = traceback_title_from_test(failure.test), output.lines
    for number, (name, start, end) in enumerate(sections):
        if name == wanted or name.startswith(wanted + " ("):
            del sections[number]
            said = [place for place in range(start, end) if lines[place].startswith("E ") and failure.message in lines[place]]
            if said:
                return output.span(said[-1])
            break
    said, named = ("FAILED ", "ERROR ", "SUBFAIL"), f" {failure.test} - "
    told = [place for place, line in enumerate(lines) if line.startswith(said) and named in f"{line} - "]
    return output.span(told[-1]) if told else (0, 0)
