"""What the window says about it: a line or two at its foot, always shown."""

from afresh.core.state import State
from afresh.core.states.progress_state import Escalation, StallNoticed
from afresh.core.states.strategy_state import is_plan_outdated
from afresh.core.truncate import to_one_line

MAX_WARNINGS = 2
MAX_EVIDENCE_CHARACTERS = 220


def render_stall_warnings(state: State) -> list[str]:
    """The gravest first. What the turn of the loop says already is not said twice."""
    grave = sorted(state.work.progress.alarms, key=lambda one: (-one.rung.height, -one.step))
    planning = is_plan_outdated(state.work.strategy, state.work.plan, state.work.plan_step)
    return [render_stall_warning(one, planning and one.evidence in state.work.strategy.why) for one in grave[:MAX_WARNINGS]]


def render_stall_warning(alarm: StallNoticed, known: bool = False) -> str:
    """What was seen, and what follows from it."""
    seen = "" if known else f" {to_one_line(alarm.evidence, MAX_EVIDENCE_CHARACTERS)}."
    now = "Do something else." if alarm.rung is Escalation.WARN else "Try a different approach."
    more = " Repeating it is refused." if alarm.key and alarm.rung is not Escalation.WARN else ""
    return f"No progress:{seen} {now}{more}"
