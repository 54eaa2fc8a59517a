"""Edits that undo each other: a file goes to and fro between the same two contents."""

from afresh.domain.course import Course, Edit
from afresh.engine.stall.sighting import Sighting, most, steps


def undoing(course: Course) -> Sighting | None:
    if not course.marks:
        return None
    return most([_of(edit, course) for edit in course.marks[-1].edits])


def _of(edit: Edit, course: Course) -> Sighting:
    """To try something and take it back is two; the same again begins a third."""
    ends = {edit.before, edit.after}
    past = [mark.step for mark in course.marks for one in mark.edits if one.path == edit.path and {one.before, one.after} == ends]
    return Sighting(len(past), f"{steps(past)} changed {edit.path} to and fro between the same two versions")
