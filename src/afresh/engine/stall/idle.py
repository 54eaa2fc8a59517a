"""Steps and tokens that went by without verified progress."""

from afresh.domain.course import ProgressState
from afresh.engine.stall.sighting import StallSign

NO_VERIFIED_PROGRESS = "no test newly passes, no count went down, no item of the plan is done with a kept change"


def detect_steps_without_progress(course: ProgressState) -> StallSign | None:
    if not course.marks:
        return None
    count = course.marks[-1].step - course.since
    return StallSign(count, f"{count} steps without verified progress: {NO_VERIFIED_PROGRESS}")


def detect_tokens_without_progress(course: ProgressState) -> StallSign | None:
    if not course.marks:
        return None
    return StallSign(course.tokens, f"{course.bill.words(course.tokens)} without verified progress: {NO_VERIFIED_PROGRESS}")
