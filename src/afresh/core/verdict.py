"""What the harness found by running things. Only it says PASS."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from afresh.core.fast_dataclass import dataclass

TARGETED_SCOPE_PREFIX = "targeted: "
"""Begins the scope of a run of some test files; their names follow."""


class Ruling(StrEnum):
    PASS = "PASS"
    FAIL = "FAIL"
    BLOCKED = "BLOCKED"


@dataclass(frozen=True, slots=True)
class FailedTest:
    """One failing test, or one failing command when no test can be named."""

    test: str
    message: str = ""
    detail: str = ""
    """A short traceback."""


def name_test_function(test: str) -> str:
    """The id of a test without the case that it ran for."""
    return test.partition("[")[0]


@dataclass(frozen=True, slots=True)
class CheckRun:
    """One run of one check. `block` holds the whole output, `tests` (a block too) the outcome of each test as JSON."""

    command: str
    exit: int
    scope: str = "full"
    """full, or targeted: with the names of the test files."""
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    timed_out: bool = False
    failures: tuple[FailedTest, ...] = ()
    """The first few."""
    block: str = ""
    tests: str = ""


@dataclass(frozen=True, slots=True)
class Baseline:
    """How the checks stood before the first change; each was run twice."""

    runs: tuple[CheckRun, ...] = ()
    flaky: tuple[str, ...] = ()
    """Tests that disagreed with themselves: shown, and deciding nothing."""
    measure: int = 0
    """What the task type counts (violations, say) before the first change."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The harness's word on one step, or on the whole task (`final`)."""

    ruling: Ruling
    reason: str
    runs: tuple[CheckRun, ...] = ()
    regressions: tuple[str, ...] = ()
    final: bool = False
    measure: int = 0
    weakened: tuple[str, ...] = ()
    """Files that weaken the tests of the base: they are put back."""
    strays: tuple[str, ...] = ()
    """Files beside the one that the task may write: they are put back."""
    flaky: tuple[str, ...] = ()
    """Tests that failed, and passed when they were run again."""
    licensed: tuple[str, ...] = ()
    """Changes of tests that the task was asked for."""


MAX_LISTED_NAMES = 3


def summarise_check_run(run: CheckRun) -> str:
    """One line: `pytest -q (targeted: tests/test_x.py): 12 passed, 1 failed`. No times: the same result has the same words."""
    if run.timed_out:
        return f"{name_check_run(run)}: timed out and was killed"
    kinds = ((run.passed, "passed"), (run.failed, "failed"), (run.skipped, "skipped"))
    counts = [f"{count} {kind}" for count, kind in kinds if count]
    said = ", ".join(counts) or f"exit {run.exit}"
    odd = f" (exit {run.exit})" if counts and run.exit and not run.failed else ""
    return f"{name_check_run(run)}: {said}{odd}"


def name_check_run(run: CheckRun) -> str:
    """The command of a check, and which tests it ran if not all."""
    return run.command if run.scope == "full" else f"{run.command} ({run.scope})"


def list_first_names(names: Iterable[str], most: int = MAX_LISTED_NAMES) -> str:
    """The first few by name, the rest by number."""
    known: Sequence[str] = sorted(names)
    more = len(known) - most
    return ", ".join(known[:most]) + (f" and {more} more" if more > 0 else "")


def format_count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
