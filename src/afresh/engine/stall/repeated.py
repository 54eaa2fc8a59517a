"""The same action again, with the same result, in a tree that has not changed."""

from afresh.domain.course import MarkedAction, ProgressState
from afresh.engine.stall.sighting import StallSign, find_strongest_sign, list_step_numbers


def detect_repeated_action(course: ProgressState) -> StallSign | None:
    """Of the last step's actions the one that was done most often."""
    if not course.marks:
        return None
    return find_strongest_sign([_count_repeated_action(act, course) for act in course.marks[-1].acts])


def _count_repeated_action(act: MarkedAction, course: ProgressState) -> StallSign:
    past = [(mark.step, one) for mark in course.marks for one in mark.acts if one.key == act.key]
    result = next((one.result for _, one in reversed(past) if one.result), "")
    same = [step for step, one in past if one.result in ("", result)]
    return StallSign(len(same), f"{list_step_numbers(same)} did the same with the same result: {act.told}", (act.key,))
