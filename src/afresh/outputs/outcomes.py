"""The outcome of each test: what a run is read to, whatever it was read from."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from afresh.core.command_output import (
    MAX_FINDINGS,
    OutputFinding,
    OutputReading,
    mask_volatile_names,
    strip_line,
    truncate_to_one_line,
)
from afresh.core.verdict import FailedTest

PASSED = "passed"
FAILED = "failed"
SKIPPED = "skipped"
ERROR = "error"
OUTCOME_RANK = {PASSED: 0, SKIPPED: 1, FAILED: 2, ERROR: 3}
MAX_MESSAGE_CHARACTERS = 300
MAX_MESSAGE_LINES = 4
"""Lines of a failure: what was expected and what came is often below the first line."""
MAX_DETAIL_LINES = 12
MAX_DETAIL_CHARACTERS = 900
MAX_SHOWN_FAILURES = 5


@dataclass(frozen=True, slots=True)
class OutcomesByTest:
    """Outcome by test. `named` is set if passing tests are known by name, too, so that a missing test can be detected."""

    tests: Mapping[str, str] = field(default_factory=dict[str, str])
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    named: bool = False
    failures: tuple[FailedTest, ...] = ()
    """One for each failing test, in the order of the output."""

    @property
    def readable(self) -> bool:
        return bool(self.tests) or self.passed + self.failed + self.skipped > 0

    @property
    def failing(self) -> frozenset[str]:
        return frozenset(test for test, outcome in self.tests.items() if outcome in (FAILED, ERROR))

    @property
    def passing(self) -> frozenset[str]:
        return frozenset(test for test, outcome in self.tests.items() if outcome == PASSED)


@dataclass(frozen=True, slots=True)
class ReportedTest:
    """What a runner says of one test. `text` is its failure; without a `message` its first lines are that."""

    test: str
    outcome: str
    text: str = ""
    message: str = ""
    lines: tuple[int, int] = (0, 0)
    """The lines of the block that show it."""


@dataclass(frozen=True, slots=True)
class TestRun:
    """A run as its runner printed it."""

    runner: str
    tests: tuple[ReportedTest, ...]
    counts: tuple[int, int, int]
    """Passed, failed, skipped."""
    named: bool
    """Passing tests are known by name, too."""
    complete: bool
    """All tests that were asked for have run."""
    fine: frozenset[str]
    """Files and packages in which nothing fails."""
    __test__ = False


LIBRARY_FRAME = re.compile(
    r"^at (?:.*(?:node_modules/|\bnode:|\(<anonymous>\))|async |(?:org\.junit|java\.base|org\.opentest4j|jdk)\b)"
)


def outcomes_from_run(run: TestRun) -> OutcomesByTest:
    wrong = tuple(_describe_failure(test) for test in run.tests if test.outcome in (FAILED, ERROR))
    return OutcomesByTest({test.test: test.outcome for test in run.tests}, *run.counts, run.named, wrong)


def outcomes_from_reported_tests(reports: Iterable[ReportedTest]) -> OutcomesByTest | None:
    """Return the outcomes of a report that names every test; None if it names none. Tests of one name are one test."""
    found = list(reports)
    tests = keep_worst_outcome((test.test, test.outcome) for test in found)
    lines = list(tests.values())
    wrong = [test for test in found if test.outcome in (FAILED, ERROR)]
    failures = {test.test: _describe_failure(test) for test in reversed(wrong)}
    counts = lines.count(PASSED), len(wrong), lines.count(SKIPPED)  # a second failing test of the same name is counted
    return OutcomesByTest(tests, *counts, named=True, failures=tuple(reversed(failures.values()))) if tests else None


def _describe_failure(report: ReportedTest) -> FailedTest:
    """The first lines say what was expected; of the stack only the project's own frames are shown."""
    lines = [line for line in split_plain_lines(report.text) if line.strip() and not LIBRARY_FRAME.search(line.strip())]
    texts = [line.strip() for line in lines if not line.strip().startswith("at ")]
    message = report.message or " ".join(texts[:MAX_MESSAGE_LINES])
    return FailedTest(report.test, message[:MAX_MESSAGE_CHARACTERS], join_detail(lines[:MAX_DETAIL_LINES]))


def join_detail(lines: Iterable[str]) -> str:
    return "\n".join(line.rstrip() for line in lines)[:MAX_DETAIL_CHARACTERS]


def reading_from_run(run: TestRun) -> OutputReading:
    """Return a reading such as `2 failed, 37 passed: test_a: AssertionError …`."""
    failing = [one for one in run.tests if one.outcome in (FAILED, ERROR)]
    wrong = frozenset(one.test for one in failing)
    counted = [f"{count} {word}" for count, word in zip(run.counts, (PASSED, FAILED, SKIPPED), strict=True) if count]
    counted = sorted(counted, key=lambda told: not told.endswith(FAILED))
    text = ", ".join([*counted, *([f"{len(run.fine)} ok"] if run.fine and not run.counts[0] else [])]) or "no tests ran"
    for test in failing[:1]:
        text += f": {test.test.rpartition('::')[2]}" + (f": {test.message}" if test.message else "")
    return OutputReading(
        truncate_to_one_line(text),
        tuple(
            OutputFinding(one.test, truncate_to_one_line(mask_volatile_names(one.message) or "fails"), 0.95, one.lines)
            for one in failing[:MAX_FINDINGS]
        ),
        run.fine.union(one.test for one in run.tests if one.outcome == PASSED) - wrong,
        wrong,
        run.complete,
        run.runner,
    )


def name_in_file(file: str, names: Sequence[str]) -> str:
    """Return `file::suite › test`; the file alone for no name."""
    short = file.removeprefix("file://")
    return f"{short}::{' › '.join(filter(None, names))}" if names else short


def keep_worst_outcome(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return one outcome per test, the worst: a test that passed and then failed in its teardown did not pass."""
    tests: dict[str, str] = {}
    for test, outcome in pairs:
        if OUTCOME_RANK[outcome] >= OUTCOME_RANK.get(tests.get(test, PASSED), 0):
            tests[test] = outcome
    return tests


def split_plain_lines(output: str) -> list[str]:
    """Return the lines without colour codes and without blanks at their ends."""
    return [strip_line(line) for line in output.split("\n")]


def collapse_failures(failures: Iterable[FailedTest], last: frozenset[str] = frozenset()) -> tuple[FailedTest, ...]:
    """Return the first few failures: each message once with its count, tests in `last` (those that failed before) at the end."""
    groups: dict[str, list[FailedTest]] = {}
    for failure in sorted(failures, key=lambda failure: failure.test in last):
        same = replace(failure, message=mask_volatile_names(failure.message), detail=mask_volatile_names(failure.detail))
        groups.setdefault(same.message or same.test, []).append(same)
    return tuple(
        replace(group[0], message=f"{len(group)} × {group[0].message}") if len(group) > 1 else group[0]
        for group in list(groups.values())[:MAX_SHOWN_FAILURES]
    )


def truncate_traceback(lines: Sequence[str]) -> str:
    """Return the end of a traceback, which says most."""
    kept = [line.rstrip() for line in lines if line.strip()][-MAX_DETAIL_LINES:]
    return "\n".join(kept)[-MAX_DETAIL_CHARACTERS:]


def outcomes_to_json(tests: Mapping[str, str]) -> str:
    return json.dumps(dict(tests), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def outcomes_from_json(text: str) -> dict[str, str]:
    return {str(test): str(outcome) for test, outcome in json.loads(text).items()}
