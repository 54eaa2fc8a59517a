"""Every bench that calls models keeps a watch at their one door: a call that takes more than its ceiling ends it."""

from afresh.engine import buy as door
from afresh.engine.tokens import Counter
from afresh.testing.ceiling import Watch


def watch() -> Watch:
    """`check()` at the end of the bench raises with all calls that were over."""
    made = Watch(Counter().whole)
    made.stand_at(door)
    return made
