"""The same action again, with the same result, in a tree that has not changed."""

from afresh.domain.course import Act, Course
from afresh.engine.stall.sighting import Sighting, most, steps


def repeated(course: Course) -> Sighting | None:
    """Of the last step's actions the one that was done most often."""
    if not course.marks:
        return None
    return most([_of(act, course) for act in course.marks[-1].acts])


def _of(act: Act, course: Course) -> Sighting:
    past = [(mark.step, one) for mark in course.marks for one in mark.acts if one.key == act.key]
    result = next((one.result for _, one in reversed(past) if one.result), "")
    same = [step for step, one in past if one.result in ("", result)]
    return Sighting(len(same), f"{steps(same)} did the same with the same result: {act.told}", (act.key,))
