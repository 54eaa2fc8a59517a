"""Signs that a run is stuck. First it is warned, then made to go about it another way, then stopped: one rung a step."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from afresh.core.event import Event, QuestionAsked
from afresh.core.reply import OFFLINE_MODEL
from afresh.core.state import State
from afresh.core.states.progress_state import (
    Escalation,
    ProgressState,
    Sighting,
    StallNoticed,
    StallThresholds,
    StepMark,
    VerifiedProgress,
    apply_step_mark,
)
from afresh.core.states.strategy_state import PLAN_EXECUTE_STRATEGY, StrategyChanged
from afresh.core.step_result import StepResult
from afresh.policy.next_call import choose_strategy
from afresh.policy.questions import ask_after_stall
from afresh.policy.stall.progress import measure_progress
from afresh.policy.stall.step_trace import CYCLING, REPEATED, REVERTED, trace_step
from afresh.runtime import Runtime

NO_VERIFIED_PROGRESS = "without verified progress: no newly passing test, no lower count, no plan item done with a kept change"
FAILING, IDLE_STEPS, IDLE_TOKENS = "failing", "idle_steps", "idle_tokens"
SIGNS: Mapping[str, str] = {
    REPEATED: "{steps} did the same with the same result: {told}",
    CYCLING: "{steps} came back to the same failure after changes: {told}",
    FAILING: "{count} steps in a row did nothing that worked",
    REVERTED: "{steps} made changes that were undone for the same tests: {told}",
    IDLE_STEPS: f"{{count}} steps {NO_VERIFIED_PROGRESS}",
    IDLE_TOKENS: f"{{spent}} {NO_VERIFIED_PROGRESS}",
}
"""The evidence of each. A sign of the same name in the user's table `no_progress` has thresholds of its own."""
ESCALATION_ORDER = (Escalation.WARN, Escalation.TURN, Escalation.STOP)


@dataclass(frozen=True, slots=True)
class StallResponse:
    """What is recorded with the step, and the question if the task stops with it."""

    mark: StepMark
    gained: VerifiedProgress | None
    events: tuple[Event, ...]
    stop: QuestionAsked | None = None


def check_for_stall(state: State, step: StepResult, runtime: Runtime) -> StallResponse:
    mark, gained = trace_step(state, step), measure_progress(state, step)
    progress = apply_step_mark(state.work.progress, mark, gained)
    thresholds = runtime.settings.stall
    escalations = (
        () if runtime.model.name == OFFLINE_MODEL else tuple(find_escalations(progress, thresholds))
    )  # rules end by themselves
    stop = next((stall for stall in escalations if stall.rung is Escalation.STOP), None)
    by_plan = choose_strategy(state, runtime.settings.template) == PLAN_EXECUTE_STRATEGY  # undone changes make a new plan there
    turns = [
        stall.evidence for stall in escalations if stall.rung is Escalation.TURN and not (by_plan and stall.sign == REVERTED)
    ]
    replan = (StrategyChanged(mark.step, PLAN_EXECUTE_STRATEGY, "; ".join(turns)),) if turns else ()
    return StallResponse(mark, gained, (*escalations, *replan), ask_after_stall(stop.evidence, state, progress) if stop else None)


def find_escalations(progress: ProgressState, thresholds: StallThresholds) -> Iterator[StallNoticed]:
    """Return signs that reach their next rung, one rung a step, and signs that have not shown for a while."""
    marks = progress.marks
    step = marks[-1].step
    views = [replace(progress, marks=marks[: len(marks) - back]) for back in range(min(thresholds.forget, len(marks)))]
    for sign, words in SIGNS.items():
        alarm, limits = progress.alarm(sign), getattr(thresholds, sign, thresholds.repeats)
        height = alarm.rung.height if alarm else 0
        ahead = [pair for pair in zip(ESCALATION_ORDER, limits, strict=False) if pair[1] and pair[0].height > height]
        count, steps, seen = count_sign(progress, sign)
        if ahead and count >= ahead[0][1]:
            spent = progress.bill.words(progress.tokens)
            evidence = words.format(count=count, steps=list_step_numbers(steps), told=seen.told, spent=spent)
            yield StallNoticed(step, sign, ahead[0][0], evidence, seen.key if sign == REPEATED else "")
        elif alarm and step - alarm.step >= thresholds.forget:
            least = next((limit for limit in limits if limit), 0)
            if all(count_sign(view, sign)[0] < least for view in views):
                yield StallNoticed(step, sign, Escalation.NONE)


def count_sign(progress: ProgressState, sign: str) -> tuple[int, Sequence[int], Sighting]:
    """Return the count that is held against the thresholds; of sightings in the last step the one that was seen most often."""
    last = progress.marks[-1]
    found = [(list_repeats(progress.marks, seen), seen) for seen in last.seen if seen.sign == sign]
    steps, seen = max(found, key=lambda one: len(one[0]), default=([last.step], Sighting(sign)))
    idle = {IDLE_STEPS: last.step - progress.since, IDLE_TOKENS: progress.tokens}
    return idle.get(sign, len(steps) if found else 0), steps, seen


def list_repeats(marks: Sequence[StepMark], seen: Sighting) -> Sequence[int]:
    steps: list[int] = []
    for mark in reversed(marks):
        same = [
            mark.step
            for sighting in mark.seen
            if (sighting.sign, sighting.key, sighting.result) == (seen.sign, seen.key, seen.result)
        ]
        if not same and (seen.sign == FAILING or (seen.sign == REVERTED and mark.edited)):
            break
        steps += same
    return steps


def list_step_numbers(numbers: Sequence[int]) -> str:
    """`steps 3, 5 and 8`; of many the last ones."""
    shown = [f"{number}" for number in sorted(set(numbers))][-6:]
    if len(shown) == 1:
        return f"step {shown[0]}"
    return f"steps {', '.join(shown[:-1])} and {shown[-1]}"
