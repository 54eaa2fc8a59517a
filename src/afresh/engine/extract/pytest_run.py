"""Runs of pytest."""

import re
from collections.abc import Sequence

from afresh.domain.verdict import Failure
from afresh.engine.extract.output import Output
from afresh.engine.extract.reading import MOST, Reading
from afresh.engine.extract.runs import Counts, Failing, Run, run_reading
from afresh.engine.verify.pytest_output import SECTION, read_pytest, title

SAID = re.compile(r"^(?:FAILED|ERROR) (\S+::\S+)(?: - (.*))?$")
"""The line of the summary, which may be all that is left of a shortened output."""
TICKED = re.compile(r"^(?:\[gw\d+\] \[ *\d+%\] PASSED (\S+::\S.*)|(\S+::\S.*) PASSED(?: +\[ *\d+%\])?)$")
"""Of a verbose run, with xdist or without."""
BROKEN_OFF = re.compile(r"^!+ .*(?:Interrupted|stopping after|KeyboardInterrupt)|^ERROR collecting|no tests ran")


def read_pytest_run(output: Output) -> Reading | None:
    outcomes = read_pytest(output.text)
    if outcomes is None or not outcomes.readable:
        return None
    failures = outcomes.failures or tuple(
        Failure(match[1], match[2] or "") for line in output.lines if (match := SAID.match(line))
    )
    counts = Counts(outcomes.failed, outcomes.passed, outcomes.skipped)
    whole = not any(BROKEN_OFF.search(line) for line in output.lines)
    ticked = [match[1] or match[2] for line in output.lines if (match := TICKED.match(line))]
    run = Run("pytest", counts, outcomes.passing.union(ticked), whole)
    return run_reading(run, placed(output, failures[:MOST]), [one.test for one in failures])


def placed(output: Output, failures: Sequence[Failure]) -> list[Failing]:
    """Each with the lines that say so: those of its traceback, else that of the summary."""
    sections = headed(output.lines)
    return [Failing(one.test, one.message, evidence(output, one, sections)) for one in failures]


def headed(lines: Sequence[str]) -> list[tuple[str, int, int]]:
    """The title of each traceback, and where it begins and ends."""
    starts = [(match[1], place) for place, line in enumerate(lines) if line.startswith("_") and (match := SECTION.match(line))]
    ends = [place for _, place in starts[1:]] + [len(lines)]
    return [(name, start, end) for (name, start), end in zip(starts, ends, strict=False)]


def evidence(output: Output, failure: Failure, sections: list[tuple[str, int, int]]) -> tuple[int, int]:
    wanted, lines = title(failure.test), output.lines
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
