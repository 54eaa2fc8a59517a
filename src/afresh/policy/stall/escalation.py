"""Warn first, then have it go about it another way, then stop and ask: one rung a step, and each on record."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from afresh.core.event import Event, QuestionAsked
from afresh.core.reply import OFFLINE_MODEL
from afresh.core.state import State
from afresh.core.states.progress_state import (
    Escalation,
    ProgressState,
    StallNoticed,
    StallThresholds,
    StepMarked,
    apply_step_mark,
)
from afresh.core.states.strategy_state import PLAN_EXECUTE_STRATEGY, StrategyChanged
from afresh.core.step_result import KeepOrRevertResult, StepActions, StepVerification
from afresh.policy.questions import ask_after_stall
from afresh.policy.stall.detectors import (
    StallSign,
    detect_failing_steps,
    detect_repeated_action,
    detect_returning_failure,
    detect_steps_without_progress,
    detect_tokens_without_progress,
)
from afresh.policy.stall.progress import measure_progress
from afresh.policy.stall.step_trace import trace_step
from afresh.runtime import Runtime

DETECTORS: Mapping[str, Callable[[ProgressState], StallSign | None]] = {
    "repeated": detect_repeated_action,
    "cycling": detect_returning_failure,
    "failing": detect_failing_steps,
    "idle_steps": detect_steps_without_progress,
    "idle_tokens": detect_tokens_without_progress,
}
"""Each is a key of the user's table `no_progress`."""
ESCALATION_ORDER = (Escalation.WARN, Escalation.TURN, Escalation.STOP)


@dataclass(frozen=True, slots=True)
class StallResponse:
    """What is recorded with the step, and the question if the task stops with it."""

    events: tuple[Event, ...]
    stop: QuestionAsked | None = None


def check_for_stall(
    state: State, deeds: StepActions, judged: StepVerification, settled: KeepOrRevertResult, runtime: Runtime
) -> StallResponse:
    left = StepMarked(trace_step(state, deeds, judged), measure_progress(state, deeds, judged, settled))
    course = apply_step_mark(state.work.progress, left)
    thresholds = runtime.settings.stall
    found = () if runtime.model.name == OFFLINE_MODEL else tuple(find_escalations(course, thresholds))  # rules end by themselves
    grave = next((one for one in found if one.rung is Escalation.STOP), None)
    others = force_replan([one for one in found if one.rung is Escalation.TURN])
    return StallResponse((left, *found, *others), ask_after_stall(grave.evidence, state, course) if grave else None)


def find_escalations(course: ProgressState, patience: StallThresholds) -> Iterator[StallNoticed]:
    """What is new after the last step: a sign that has reached its next rung, or one that has not shown for a while."""
    step = course.marks[-1].step
    for sign, find in DETECTORS.items():
        alarm, seen, limits = course.alarm(sign), find(course), getattr(patience, sign)
        rung = find_next_escalation(alarm.rung if alarm else Escalation.NONE, seen.count if seen else 0, limits)
        if seen and rung is not None:
            yield StallNoticed(step, sign, rung, seen.evidence, seen.keys)
        elif alarm and step - alarm.step >= patience.forget and not is_sign_recent(course, sign, patience):
            yield StallNoticed(step, sign, Escalation.NONE)


def find_next_escalation(now: Escalation, count: int, limits: Sequence[int]) -> Escalation | None:
    """The next rung, if the count has reached it; never two at once, so that each can have its effect."""
    ahead = [(rung, limit) for rung, limit in zip(ESCALATION_ORDER, limits, strict=False) if rung.height > now.height and limit]
    return ahead[0][0] if ahead and count >= ahead[0][1] else None


def is_sign_recent(course: ProgressState, sign: str, patience: StallThresholds) -> bool:
    """Whether the sign stood at its first rung in any of the last steps."""
    limit = next((limit for limit in getattr(patience, sign) if limit), 0)
    views = [replace(course, marks=course.marks[: len(course.marks) - back]) for back in range(patience.forget)]
    return any((seen := DETECTORS[sign](view)) is not None and seen.count >= limit for view in views)


def force_replan(alarms: Sequence[StallNoticed]) -> tuple[Event, ...]:
    """By a new plan, with what has failed in view."""
    if not alarms:
        return ()
    return (StrategyChanged(alarms[0].step, PLAN_EXECUTE_STRATEGY, "; ".join(one.evidence for one in alarms)),)
