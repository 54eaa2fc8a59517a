"""Steps in a row in which nothing worked: unknown tools, files that are not there, commands that fail, replies without action."""

from itertools import takewhile

from afresh.domain.course import ProgressState
from afresh.engine.stall.sighting import StallSign


def detect_failing_steps(course: ProgressState) -> StallSign | None:
    row = len(list(takewhile(lambda mark: not mark.worked, reversed(course.marks))))
    return StallSign(row, f"{row} steps in a row did nothing that worked") if row else None
