"""A failure that comes back: a command or check fails as it did before, after it had come to something else."""

from itertools import pairwise

from afresh.domain.course import ProgressState, CheckEnding
from afresh.engine.stall.sighting import StallSign, find_strongest_sign, list_step_numbers


def detect_returning_failure(course: ProgressState) -> StallSign | None:
    """Only with changes between: whoever runs two commands in turn sees their failures in turn."""
    if not course.marks:
        return None
    return find_strongest_sign(
        [seen for ending in course.marks[-1].endings if ending.sign and (seen := _count_returning_failure(ending, course))]
    )


def _count_returning_failure(ending: CheckEnding, course: ProgressState) -> StallSign | None:
    """How often the failure was arrived at: first, and then each time from another end of the same command."""
    ends = [
        (mark.step, bool(mark.edits), one.sign) for mark in course.marks for one in mark.endings if one.source == ending.source
    ]  # fmt: skip
    arrivals = [ends[0][0]] if ends[0][2] == ending.sign else []
    for (before, _, was), (step, _, now) in pairwise(ends):
        if now == ending.sign and was != now and _has_edits_between(course, before, step):
            arrivals.append(step)
    if not arrivals or ends[-1][2] != ending.sign or arrivals[-1] != course.marks[-1].step:
        return None
    return StallSign(len(arrivals), f"{list_step_numbers(arrivals)} came back to the same failure after changes: {ending.told}")


def _has_edits_between(course: ProgressState, after: int, until: int) -> bool:
    return any(mark.edits for mark in course.marks if after <= mark.step <= until)
