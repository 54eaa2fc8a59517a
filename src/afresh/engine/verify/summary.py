"""Verification in words."""

from collections.abc import Iterable, Sequence

from afresh.domain.verdict import CheckRun

MAX_LISTED_NAMES = 3


def summarise_check_run(run: CheckRun) -> str:
    """One line: `pytest -q (targeted: tests/test_x.py): 12 passed, 1 failed`. No times: the same result has the same words."""
    scope = "" if run.scope == "full" else f" ({run.scope})"
    if run.timed_out:
        return f"{run.command}{scope}: timed out and was killed"
    kinds = ((run.passed, "passed"), (run.failed, "failed"), (run.skipped, "skipped"))
    counts = [f"{count} {kind}" for count, kind in kinds if count]
    said = ", ".join(counts) or f"exit {run.exit}"
    odd = f" (exit {run.exit})" if counts and run.exit and not run.failed else ""
    return f"{run.command}{scope}: {said}{odd}"


def list_first_names(names: Iterable[str], most: int = MAX_LISTED_NAMES) -> str:
    """The first few by name, the rest by number."""
    known: Sequence[str] = sorted(names)
    more = len(known) - most
    return ", ".join(known[:most]) + (f" and {more} more" if more > 0 else "")


def format_count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
