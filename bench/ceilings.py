"""Every bench that calls models keeps a watch at their one door, or looks into the books of the processes that it has started: a
call that takes more than its ceiling ends it."""

from pathlib import Path

from afresh.core.tokens import EstimatingCounter
from afresh.models import call as door
from support.ceiling_watch import CeilingWatch, find_calls_over_ceiling, render_failure


def watch() -> CeilingWatch:
    """`check()` at the end of the bench raises with all calls that were over."""
    made = CeilingWatch(EstimatingCounter().whole)
    made.stand_at(door)
    return made


def check_books(folder: Path) -> None:
    """Raises with all calls that were over, of processes whose books lie below this folder."""
    over = list(find_calls_over_ceiling(folder))
    assert not over, render_failure(over)
