"""Steps and tokens that went by without verified progress."""

from afresh.domain.course import Course
from afresh.engine.stall.sighting import Sighting

VERIFIED = "no test newly passes, no count went down, no item of the plan is done with a kept change"


def idle_steps(course: Course) -> Sighting | None:
    if not course.marks:
        return None
    count = course.marks[-1].step - course.since
    return Sighting(count, f"{count} steps without verified progress: {VERIFIED}")


def idle_tokens(course: Course) -> Sighting | None:
    if not course.marks:
        return None
    return Sighting(course.tokens, f"{course.bill.words(course.tokens)} without verified progress: {VERIFIED}")
