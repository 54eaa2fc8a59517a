"""Runs of the standard library's unittest, and of what is built on it."""

import re
from collections.abc import Sequence

from afresh.domain.verdict import Failure
from afresh.engine.extract.output import Output
from afresh.engine.extract.reading import MOST, Reading
from afresh.engine.extract.runs import Counts, Failing, Run, run_reading
from afresh.engine.verify.unittest_output import read_unittest

HEADING = re.compile(r"^(?:FAIL|ERROR): \S")
RULE = "=" * 20


def read_unittest_run(output: Output) -> Reading | None:
    outcomes = read_unittest(output.text)
    if outcomes is None or not outcomes.readable:
        return None
    counts = Counts(outcomes.failed, outcomes.passed, outcomes.skipped)
    run = Run("unittest", counts, outcomes.passing, complete=True)
    return run_reading(run, placed(output, outcomes.failures[:MOST]), outcomes.failing)


def placed(output: Output, failures: Sequence[Failure]) -> list[Failing]:
    """Failures stand in the order of their headings."""
    lines = output.lines
    heads = [place for place in range(1, len(lines)) if lines[place - 1].startswith(RULE) and HEADING.match(lines[place])] + [
        len(lines)
    ]
    pairs = zip(heads, heads[1:], failures, strict=False)
    return [Failing(one.test, one.message, evidence(output, one, start, end)) for start, end, one in pairs]


def evidence(output: Output, failure: Failure, start: int, end: int) -> tuple[int, int]:
    """From the heading to the line that says what was raised."""
    said = [place for place in range(start, end) if failure.message and output.lines[place].startswith(failure.message)]
    return output.span(start, said[-1] if said else start)
