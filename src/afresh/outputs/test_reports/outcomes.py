"""The outcome of each test, read from the output of a test run."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from afresh.core.command_output import MAX_FINDINGS, OutputFinding, OutputReading, truncate_to_one_line
from afresh.core.verdict import FailedTest

PASSED = "passed"
FAILED = "failed"
SKIPPED = "skipped"
ERROR = "error"
OUTCOME_RANK = {PASSED: 0, SKIPPED: 1, FAILED: 2, ERROR: 3}
MAX_MESSAGE_CHARACTERS = 300
MAX_DETAIL_LINES = 12
MAX_DETAIL_CHARACTERS = 900
MAX_SHOWN_FAILURES = 5
_MEMORY_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{6,}")
_ANSI_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


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
    """What a runner's report says of one test. `text` is its failure: the message first, then where it happened."""

    test: str
    outcome: str
    text: str = ""


LIBRARY_FRAME = re.compile(
    r"^at (?:.*(?:node_modules/|\bnode:|\(<anonymous>\))|async |(?:org\.junit|java\.base|org\.opentest4j|jdk)\b)"
)
MAX_MESSAGE_LINES = 4
"""Of a failure: what was expected and what came often stands below the first line."""


def outcomes_from_reported_tests(reports: Iterable[ReportedTest]) -> OutcomesByTest | None:
    """Return the outcomes of a report that names every test; None if it names none. Tests of one name are one test."""
    found = list(reports)
    tests = keep_worst_outcome((one.test, one.outcome) for one in found)
    said = list(tests.values())
    wrong = [one for one in found if one.outcome in (FAILED, ERROR)]
    failures = {one.test: _describe_failure(one) for one in reversed(wrong)}
    failed = len(wrong)  # a second test of the same name is counted
    counts = said.count(PASSED), failed, said.count(SKIPPED)
    return OutcomesByTest(tests, *counts, named=True, failures=tuple(reversed(failures.values()))) if tests else None


def _describe_failure(report: ReportedTest) -> FailedTest:
    """The first lines say what was expected; of the stack only the project's own frames are shown."""
    lines = [line for line in split_plain_lines(report.text) if line.strip() and not LIBRARY_FRAME.search(line.strip())]
    said = [line.strip() for line in lines if not line.strip().startswith("at ")]
    shown = "\n".join(line.rstrip() for line in lines[:MAX_DETAIL_LINES])
    return FailedTest(report.test, " ".join(said[:MAX_MESSAGE_LINES])[:MAX_MESSAGE_CHARACTERS], shown[:MAX_DETAIL_CHARACTERS])


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
    """Return the lines without colour codes."""
    return _ANSI_ESCAPES.sub("", output.replace("\r\n", "\n")).split("\n")


def collapse_failures(failures: Iterable[FailedTest], last: frozenset[str] = frozenset()) -> tuple[FailedTest, ...]:
    """Return the first few failures: each message once with its count, tests in `last` (those that failed before) at the end."""
    ordered = sorted(map(_mask_addresses, failures), key=lambda failure: failure.test in last)
    groups: dict[str, list[FailedTest]] = {}
    for failure in ordered:
        groups.setdefault(failure.message or failure.test, []).append(failure)
    return tuple(_count_group(group) for group in list(groups.values())[:MAX_SHOWN_FAILURES])


def _mask_addresses(failure: FailedTest) -> FailedTest:
    """Replace memory addresses, which differ from run to run, so that equal failures have equal messages."""
    return FailedTest(
        failure.test, _MEMORY_ADDRESS.sub(" at 0x…", failure.message), _MEMORY_ADDRESS.sub(" at 0x…", failure.detail)
    )


def _count_group(group: list[FailedTest]) -> FailedTest:
    first = group[0]
    return first if len(group) == 1 else replace(first, message=f"{len(group)} × {first.message}")


def truncate_traceback(lines: list[str]) -> str:
    """Return the end of a traceback, which says most."""
    kept = [line.rstrip() for line in lines if line.strip()][-MAX_DETAIL_LINES:]
    return "\n".join(kept)[-MAX_DETAIL_CHARACTERS:]


def outcomes_to_json(tests: Mapping[str, str]) -> str:
    return json.dumps(dict(tests), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def outcomes_from_json(text: str) -> dict[str, str]:
    return {str(test): str(outcome) for test, outcome in json.loads(text).items()}


@dataclass(frozen=True, slots=True)
class FailingTest:
    """A failing test, its message, and the lines of the block that show it."""

    test: str
    message: str
    lines: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    failed: int = 0
    passed: int = 0
    skipped: int = 0
    more: str = ""
    """Other counts, in words."""

    @property
    def told(self) -> str:
        counted = [(self.failed, "failed"), (self.passed, "passed"), (self.skipped, "skipped")]
        return ", ".join([*[f"{count} {what}" for count, what in counted if count], *filter(None, [self.more])]) or "no tests ran"


@dataclass(frozen=True, slots=True)
class RunnerReport:
    """A test run: the runner, the passing tests, and whether the report is complete."""

    runner: str
    counts: OutcomeCounts
    fine: frozenset[str] = frozenset()
    complete: bool = False


def outcomes_from_test_run(run: RunnerReport, failing: Sequence[FailingTest]) -> OutcomesByTest:
    """Return what the text of a run says: tests that pass are not all known by name."""
    wrong = {one.test: FAILED if "::" in one.test else ERROR for one in failing}
    fine = {test: PASSED for test in run.fine if "::" in test and test not in wrong}
    failures = tuple(FailedTest(one.test, one.message[:MAX_MESSAGE_CHARACTERS]) for one in failing)
    return OutcomesByTest(fine | wrong, run.counts.passed, run.counts.failed, run.counts.skipped, failures=failures)


def reading_from_test_run(run: RunnerReport, failing: Sequence[FailingTest], others: Iterable[str] = ()) -> OutputReading:
    """Return the reading of a run. `others` are further failing tests of which only the name is known."""
    findings = [
        OutputFinding(one.test, truncate_to_one_line(one.message or "fails"), 0.95, one.lines) for one in failing[:MAX_FINDINGS]
    ]
    wrong = frozenset([*[one.test for one in failing], *others])
    return OutputReading(
        summarise_test_run(run.counts, failing), tuple(findings), run.fine - wrong, wrong, run.complete, run.runner
    )


def summarise_test_run(counts: OutcomeCounts, failing: Sequence[FailingTest]) -> str:
    """Return a summary such as `2 failed, 37 passed: test_a: AssertionError …`."""
    if not failing:
        return counts.told
    first = failing[0]
    name = first.test.rpartition("::")[2] or first.test
    return truncate_to_one_line(f"{counts.told}: {name}: {first.message}" if first.message else f"{counts.told}: {name}")
