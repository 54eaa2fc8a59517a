"""What the window says about it: a line or two at its foot, always shown."""

from afresh.domain.course import Course, Noticed, Rung
from afresh.domain.text import one_line

SHOWN, LENGTH = 2, 220


def told(course: Course) -> list[str]:
    """The gravest first."""
    grave = sorted(course.alarms, key=lambda one: (-one.rung.height, -one.step))
    return [line(one) for one in grave[:SHOWN]]


def line(alarm: Noticed) -> str:
    more = " The same again is refused." if alarm.keys and alarm.rung is not Rung.WARN else ""
    now = "Do something else." if alarm.rung is Rung.WARN else f"Set a new plan, another way than so far.{more}"
    return f"No progress: {one_line(alarm.evidence, LENGTH)}. {now}"
