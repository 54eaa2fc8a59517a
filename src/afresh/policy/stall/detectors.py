"""Signs that a run is stuck: one function per kind of repetition or lack of progress, each with its evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from afresh.core.states.progress_state import CheckEnding, MarkedAction, ProgressState


@dataclass(frozen=True, slots=True)
class StallSign:
    """`count` is held against the user's thresholds."""

    count: int
    evidence: str
    keys: tuple[str, ...] = ()


def list_step_numbers(numbers: Sequence[int]) -> str:
    """`steps 3, 5 and 8`; of many the last ones."""
    shown = [f"{number}" for number in sorted(set(numbers))][-6:]
    if len(shown) == 1:
        return f"step {shown[0]}"
    return f"steps {', '.join(shown[:-1])} and {shown[-1]}"


def find_strongest_sign(found: Sequence[StallSign]) -> StallSign | None:
    return max(found, key=lambda one: one.count, default=None)


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


def detect_returning_failure(course: ProgressState) -> StallSign | None:
    """Only with changes between: whoever runs two commands in turn sees their failures in turn."""
    if not course.marks:
        return None
    return find_strongest_sign(
        [seen for ending in course.marks[-1].endings if ending.sign and (seen := _count_returning_failure(ending, course))]
    )


def _count_returning_failure(ending: CheckEnding, course: ProgressState) -> StallSign | None:
    """How often the failure was arrived at: first, and then each time from another end of the same command."""
    ends = [(mark.step, one.sign) for mark in course.marks for one in mark.endings if one.source == ending.source]
    arrivals = [ends[0][0]] if ends[0][1] == ending.sign else []
    for (before, was), (step, now) in pairwise(ends):
        if now == ending.sign and was != now and any(mark.edited for mark in course.marks if before <= mark.step <= step):
            arrivals.append(step)
    if not arrivals or ends[-1][1] != ending.sign or arrivals[-1] != course.marks[-1].step:
        return None
    return StallSign(len(arrivals), f"{list_step_numbers(arrivals)} came back to the same failure after changes: {ending.told}")


def detect_failing_steps(course: ProgressState) -> StallSign | None:
    row = len(list(takewhile(lambda mark: not mark.worked, reversed(course.marks))))
    return StallSign(row, f"{row} steps in a row did nothing that worked") if row else None


NO_VERIFIED_PROGRESS = "no newly passing test, no lower count, no plan item done with a kept change"


def detect_steps_without_progress(course: ProgressState) -> StallSign | None:
    if not course.marks:
        return None
    count = course.marks[-1].step - course.since
    return StallSign(count, f"{count} steps without verified progress: {NO_VERIFIED_PROGRESS}")


def detect_tokens_without_progress(course: ProgressState) -> StallSign | None:
    if not course.marks:
        return None
    return StallSign(course.tokens, f"{course.bill.words(course.tokens)} without verified progress: {NO_VERIFIED_PROGRESS}")
