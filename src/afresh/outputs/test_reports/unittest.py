"""Parses the output of the standard library's unittest, verbose or not."""

import re
from collections.abc import Iterator, Sequence

from afresh.core.command_output import MAX_FINDINGS, CommandOutput, OutputReading
from afresh.core.verdict import FailedTest
from afresh.outputs.test_reports.outcomes import (
    ERROR,
    FAILED,
    MAX_MESSAGE_CHARACTERS,
    PASSED,
    SKIPPED,
    FailingTest,
    OutcomeCounts,
    OutcomesByTest,
    RunnerReport,
    keep_worst_outcome,
    reading_from_test_run,
    split_plain_lines,
    truncate_traceback,
)

_RAN_LINE = re.compile(r"^Ran (\d+) tests? in [\d.…]+s\s*$")
_RESULT_LINE = re.compile(r"^(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?\s*$")
_OUTCOME_COUNT = re.compile(r"(?<![a-z ])([a-z ]+)=(\d+)")
_TEST_NAME = re.compile(r"^([\w.]+) \(([\w.<>]+)\)")
_OUTCOME_WORD = re.compile(r"(?:^|\.\.\. ?|\s)(ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)\s*$")
_TRACEBACK_HEADING = re.compile(r"^(FAIL|ERROR): (.*\S)\s*$")
_OUTCOME_BY_WORD = {"ok": PASSED, "FAIL": FAILED, "ERROR": ERROR, "expected failure": SKIPPED, "unexpected success": FAILED}


def read_unittest_outcomes(output: str) -> OutcomesByTest | None:
    lines = split_plain_lines(output)
    ran = sum(int(match[1]) for line in lines if (match := _RAN_LINE.match(line)))
    if not any(_RAN_LINE.match(line) for line in lines):
        return None
    failures = tuple(_split_tracebacks(lines))
    spoken = list(_parse_verbose_lines(lines))
    outcomes = [*spoken, *((test, FAILED if kind == "FAIL" else ERROR) for kind, test, _ in failures)]
    counts = _parse_counts(lines)
    failed = counts.get("failures", 0) + counts.get("errors", 0) + counts.get("unexpected successes", 0)
    skipped = counts.get("skipped", 0) + counts.get("expected failures", 0)
    # Python 3.12.0 and 3.12.1 do not count skipped tests as run, and no version counts a failed setUpClass
    seen = sum(outcome == PASSED for _, outcome in spoken)
    passed = max(seen, ran - failed - skipped)
    named = bool(spoken) and seen >= passed
    shown = tuple(
        FailedTest(test, _find_exception_line(body)[:MAX_MESSAGE_CHARACTERS], truncate_traceback(body))
        for _, test, body in failures
    )
    return OutcomesByTest(keep_worst_outcome(outcomes), passed, failed, skipped, named, shown)


def _parse_verbose_lines(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each `test_a (module.Case.test_a) ... ok`; a docstring or printed text may separate the name from the outcome."""
    waiting = ""
    for line in lines:
        if line.startswith("=" * 20) or _RAN_LINE.match(line):
            waiting = ""
        if name := _TEST_NAME.match(line):
            waiting = unittest_id_from_match(name)
        verdict = _OUTCOME_WORD.search(line)
        if waiting and verdict:
            yield waiting, _OUTCOME_BY_WORD.get(verdict[1], SKIPPED)
            waiting = ""


def unittest_id_from_match(name: re.Match[str]) -> str:
    """Return the test id. Python 3.11 and later repeat the method in the parentheses, older versions do not."""
    return name[2] if name[2].endswith("." + name[1]) else f"{name[2]}.{name[1]}"


def _split_tracebacks(lines: Sequence[str]) -> Iterator[tuple[str, str, list[str]]]:
    for number, line in enumerate(lines):
        heading = _TRACEBACK_HEADING.match(line)
        if heading and number and lines[number - 1].startswith("=" * 20):
            name = _TEST_NAME.match(heading[2])
            yield heading[1], unittest_id_from_match(name) if name else heading[2], _read_traceback_body(lines, number + 1)


def _read_traceback_body(lines: Sequence[str], start: int) -> list[str]:
    body: list[str] = []
    for line in lines[start:]:
        if line.startswith("=" * 20) or _RAN_LINE.match(line):
            break
        if not line.startswith("-" * 20):
            body.append(line)
    return body


def _find_exception_line(body: Sequence[str]) -> str:
    """Return the last line that is not indented: the exception of the traceback."""
    return next((line.strip() for line in reversed(body) if re.match(r"^[A-Za-z_][\w.]*(?:$|: )", line)), "")


def _parse_counts(lines: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for line in lines:
        if result := _RESULT_LINE.match(line):
            for word, number in _OUTCOME_COUNT.findall(result[1] or ""):
                counts[word.strip()] = counts.get(word.strip(), 0) + int(number)
    return counts


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
    """Return each failure with its lines. Failures are in the order of their headings."""
    lines = output.lines
    heads = [
        place
        for place in range(1, len(lines))
        if lines[place - 1].startswith(TRACEBACK_RULE) and FAILURE_HEADING.match(lines[place])
    ] + [len(lines)]
    pairs = zip(heads, heads[1:], failures, strict=False)
    return [FailingTest(one.test, one.message, find_unittest_failure_lines(output, one, start, end)) for start, end, one in pairs]


def find_unittest_failure_lines(output: CommandOutput, failure: FailedTest, start: int, end: int) -> tuple[int, int]:
    """Return the lines from the heading to the exception."""
    said = [place for place in range(start, end) if failure.message and output.lines[place].startswith(failure.message)]
    return output.span(start, said[-1] if said else start)
