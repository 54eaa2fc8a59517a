"""Edits that undo each other: a file goes to and fro between the same two contents."""

from afresh.domain.course import ProgressState, FileTransition
from afresh.engine.stall.sighting import StallSign, find_strongest_sign, list_step_numbers


def detect_back_and_forth_edits(course: ProgressState) -> StallSign | None:
    if not course.marks:
        return None
    return find_strongest_sign([_count_back_and_forth_edits(edit, course) for edit in course.marks[-1].edits])


def _count_back_and_forth_edits(edit: FileTransition, course: ProgressState) -> StallSign:
    """To try something and take it back is two; the same again begins a third."""
    ends = {edit.before, edit.after}
    past = [mark.step for mark in course.marks for one in mark.edits if one.path == edit.path and {one.before, one.after} == ends]
    return StallSign(len(past), f"{list_step_numbers(past)} changed {edit.path} to and fro between the same two versions")
