"""What all test runs have in common: counts as people say them, and the tests that fail."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from afresh.engine.extract.reading import MAX_FINDINGS, OutputFinding, OutputReading, truncate_to_one_line


@dataclass(frozen=True, slots=True)
class FailingTest:
    """A test that fails, why, and where that stands in the block."""

    test: str
    message: str
    lines: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    failed: int = 0
    passed: int = 0
    skipped: int = 0
    more: str = ""
    """What else is counted, in words."""

    @property
    def told(self) -> str:
        counted = [(self.failed, "failed"), (self.passed, "passed"), (self.skipped, "skipped")]
        return ", ".join([*[f"{count} {what}" for count, what in counted if count], *filter(None, [self.more])]) or "no tests ran"


@dataclass(frozen=True, slots=True)
class RunnerReport:
    """A whole run: who ran the tests, which of them are said to pass, and whether none was left out."""

    runner: str
    counts: OutcomeCounts
    fine: frozenset[str] = frozenset()
    complete: bool = False


def reading_from_test_run(run: RunnerReport, failing: Sequence[FailingTest], others: Iterable[str] = ()) -> OutputReading:
    """`others` fail too, by name only."""
    findings = [
        OutputFinding(one.test, truncate_to_one_line(one.message or "fails"), 0.95, one.lines) for one in failing[:MAX_FINDINGS]
    ]
    wrong = frozenset([*[one.test for one in failing], *others])
    return OutputReading(
        summarise_test_run(run.counts, failing), tuple(findings), run.fine - wrong, wrong, run.complete, run.runner
    )


def summarise_test_run(counts: OutcomeCounts, failing: Sequence[FailingTest]) -> str:
    """As people count: `2 failed, 37 passed: test_a: AssertionError …`."""
    if not failing:
        return counts.told
    first = failing[0]
    name = first.test.rpartition("::")[2] or first.test
    return truncate_to_one_line(f"{counts.told}: {name}: {first.message}" if first.message else f"{counts.told}: {name}")
