"""Warn first, then have it go about it another way, then stop and ask: one rung a step, and each on record."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from afresh.domain.course import Course, Marked, Noticed, Rung, marked
from afresh.domain.event import Asked, Event, Rebudgeted, Turned
from afresh.domain.patience import Patience
from afresh.domain.room import above
from afresh.domain.state import State
from afresh.domain.strategy import PLAN_EXECUTE
from afresh.engine.act import Deeds
from afresh.engine.agent import Agent
from afresh.engine.budget import most
from afresh.engine.judge import Judgement
from afresh.engine.questions import nowhere
from afresh.engine.settle import Settlement
from afresh.engine.stall.cycling import cycling
from afresh.engine.stall.failing import failing
from afresh.engine.stall.gain import gained
from afresh.engine.stall.idle import idle_steps, idle_tokens
from afresh.engine.stall.mark import mark
from afresh.engine.stall.repeated import repeated
from afresh.engine.stall.rereading import rereading
from afresh.engine.stall.sighting import Sighting
from afresh.engine.stall.undoing import undoing

SIGNS: Mapping[str, Callable[[Course], Sighting | None]] = {
    "repeated": repeated, "cycling": cycling, "undoing": undoing, "rereading": rereading, "failing": failing,
    "idle_steps": idle_steps, "idle_tokens": idle_tokens,
}  # fmt: skip
"""Each is a key of the user's table `no_progress`."""
RUNGS = (Rung.WARN, Rung.TURN, Rung.STOP)


@dataclass(frozen=True, slots=True)
class Stall:
    """What is recorded with the step, and the question if the task stops with it."""

    events: tuple[Event, ...]
    stop: Asked | None = None


def stall(state: State, deeds: Deeds, judged: Judgement, settled: Settlement, agent: Agent) -> Stall:
    left = Marked(mark(state, deeds, judged), gained(state, deeds, judged, settled))
    course = marked(state.course, left)
    found = tuple(noticed(course, agent.patience))
    grave = next((one for one in found if one.rung is Rung.STOP), None)
    others = another_way([one for one in found if one.rung is Rung.TURN], state, agent)
    return Stall((left, *found, *others), nowhere(grave.evidence, state, course) if grave else None)


def noticed(course: Course, patience: Patience) -> Iterator[Noticed]:
    """What is new after the last step: a sign that has reached its next rung, or one that has not shown for a while."""
    step = course.marks[-1].step
    for sign, find in SIGNS.items():
        alarm, seen, limits = course.alarm(sign), find(course), getattr(patience, sign)
        rung = higher(alarm.rung if alarm else Rung.NONE, seen.count if seen else 0, limits)
        if seen and rung is not None:
            yield Noticed(step, sign, rung, seen.evidence, seen.keys)
        elif alarm and step - alarm.step >= patience.forget and not lately(course, sign, patience):
            yield Noticed(step, sign, Rung.NONE)


def higher(now: Rung, count: int, limits: Sequence[int]) -> Rung | None:
    """The next rung, if the count has reached it; never two at once, so that each can have its effect."""
    ahead = [(rung, limit) for rung, limit in zip(RUNGS, limits, strict=False) if rung.height > now.height and limit]
    return ahead[0][0] if ahead and count >= ahead[0][1] else None


def lately(course: Course, sign: str, patience: Patience) -> bool:
    """Whether the sign stood at its first rung in any of the last steps."""
    limit = next((limit for limit in getattr(patience, sign) if limit), 0)
    views = [replace(course, marks=course.marks[: len(course.marks) - back]) for back in range(patience.forget)]
    return any((seen := SIGNS[sign](view)) is not None and seen.count >= limit for view in views)


def another_way(alarms: Sequence[Noticed], state: State, agent: Agent) -> tuple[Event, ...]:
    """By a new plan, with what has failed in view. Whoever reads the same lines again and again may have no room for them."""
    if not alarms:
        return ()
    larger = above(state.budget, state.task.budget, most(state.task, agent.model.window))
    room = tuple(
        Rebudgeted(one.step, state.budget, larger, one.evidence)
        for one in alarms
        if one.sign == "rereading" and larger > state.budget
    )
    return (*room, Turned(alarms[0].step, PLAN_EXECUTE, "; ".join(one.evidence for one in alarms)))
