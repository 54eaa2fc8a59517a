"""The same lines of an unchanged file, or the same archived output, read again and again."""

from afresh.domain.course import ProgressState, LinesRead
from afresh.engine.stall.sighting import StallSign, find_strongest_sign, list_step_numbers


def detect_rereading(course: ProgressState) -> StallSign | None:
    if not course.marks:
        return None
    return find_strongest_sign([_count_rereading(glance, course) for glance in course.marks[-1].glances])


def _count_rereading(glance: LinesRead, course: ProgressState) -> StallSign:
    past = list[int]()
    for mark in course.marks:
        past += [mark.step for one in mark.glances if _is_mostly_reread(one, glance)]
        past = [] if any(edit.path == glance.path for edit in mark.edits) else past
    lines = f"lines {glance.start}-{glance.end} of {glance.path}" if glance.end else f"output {glance.path}"
    return StallSign(len(past), f"{list_step_numbers(past or [course.marks[-1].step])} read {lines}, which have not changed")


def _is_mostly_reread(old: LinesRead, new: LinesRead) -> bool:
    """Most of what is read now was read then."""
    shared = min(old.end, new.end) - max(old.start, new.start) + 1
    return old.path == new.path and 2 * shared > new.end - new.start + 1
