"""What the window says about it: a line or two at its foot, always shown."""

from afresh.domain.course import Noticed, Rung
from afresh.domain.state import State
from afresh.domain.strategy import outdated
from afresh.domain.text import one_line

SHOWN = 2
LENGTH = 220


def told(state: State) -> list[str]:
    """The gravest first. What the turn of the loop says already is not said twice."""
    grave = sorted(state.course.alarms, key=lambda one: (-one.rung.height, -one.step))
    planning = outdated(state.loop, state.plan, state.planned)
    return [line(one, planning and one.evidence in state.loop.why) for one in grave[:SHOWN]]


def line(alarm: Noticed, known: bool = False) -> str:
    """What was seen, and what follows from it."""
    seen = "" if known else f" {one_line(alarm.evidence, LENGTH)}."
    now = "Do something else." if alarm.rung is Rung.WARN else "Go another way than so far."
    more = " The same again is refused." if alarm.keys and alarm.rung is not Rung.WARN else ""
    return f"No progress:{seen} {now}{more}"
