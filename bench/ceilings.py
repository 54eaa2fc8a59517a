"""Every bench that calls models keeps a watch at their one door, or looks into the books of the processes that it has started: a
call that takes more than its ceiling ends it."""

from pathlib import Path

from afresh.engine import buy as door
from afresh.engine.tokens import Counter
from afresh.testing.ceiling import Watch, failure, over_in_books


def watch() -> Watch:
    """`check()` at the end of the bench raises with all calls that were over."""
    made = Watch(Counter().whole)
    made.stand_at(door)
    return made


def check_books(folder: Path) -> None:
    """Raises with all calls that were over, of processes whose books lie below this folder."""
    over = list(over_in_books(folder))
    assert not over, failure(over)
