"""The same lines of an unchanged file, or the same archived output, read again and again."""

from afresh.domain.course import Course, Glance
from afresh.engine.stall.sighting import Sighting, most, steps


def rereading(course: Course) -> Sighting | None:
    if not course.marks:
        return None
    return most([_of(glance, course) for glance in course.marks[-1].glances])


def _of(glance: Glance, course: Course) -> Sighting:
    past = list[int]()
    for mark in course.marks:
        past += [mark.step for one in mark.glances if _same(one, glance)]
        past = [] if any(edit.path == glance.path for edit in mark.edits) else past
    lines = f"lines {glance.start}-{glance.end} of {glance.path}" if glance.end else f"output {glance.path}"
    return Sighting(len(past), f"{steps(past or [course.marks[-1].step])} read {lines}, which have not changed")


def _same(old: Glance, new: Glance) -> bool:
    """Most of what is read now was read then."""
    shared = min(old.end, new.end) - max(old.start, new.start) + 1
    return old.path == new.path and 2 * shared > new.end - new.start + 1
