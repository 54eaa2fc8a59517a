"""Test runs of pytest and unittest: how many, and which fail with which error."""

import re

from afresh.domain.verdict import Failure
from afresh.engine.extract.reading import MOST, Finding, Reading, clipped
from afresh.engine.verify.outcomes import Outcomes
from afresh.engine.verify.pytest_output import read_pytest
from afresh.engine.verify.unittest_output import read_unittest

SAID = re.compile(r"^(?:FAILED|ERROR) (\S+::\S+)(?: - (.*))?$", re.MULTILINE)
"""The line of the summary, which may be all that is left of a shortened output."""
BROKEN_OFF = re.compile(r"^!+ .*(?:Interrupted|stopping after|KeyboardInterrupt)|^ERROR collecting|no tests ran", re.MULTILINE)


def read_tests(text: str) -> Reading | None:
    outcomes = read_pytest(text) or read_unittest(text)
    if outcomes is None or not outcomes.readable:
        return None
    failures = outcomes.failures or tuple(Failure(test, message) for test, message in SAID.findall(text))
    findings = [Finding(failure.test, clipped(failure.message or "fails"), 0.95) for failure in failures[:MOST]]
    return Reading(phrase(outcomes, failures), tuple(findings), outcomes.passing, not BROKEN_OFF.search(text))


def phrase(outcomes: Outcomes, failures: tuple[Failure, ...]) -> str:
    """As people count: `37 passed, 2 failed: test_a: AssertionError …`."""
    told = [(outcomes.failed, "failed"), (outcomes.passed, "passed"), (outcomes.skipped, "skipped")]
    counts = ", ".join(f"{number} {what}" for number, what in told if number) or "no tests ran"
    if not failures:
        return counts
    first = failures[0]
    name = first.test.rpartition("::")[2] or first.test
    return clipped(f"{counts}: {name}: {first.message}" if first.message else f"{counts}: {name}")
