"""Where a task stands in its phases, in words for the window. Pure."""

from afresh.domain.state import State
from afresh.domain.template import Layout

NOW = {
    "understand": "make the first change now, with what you know",
    "change": "finish what is begun, then complete or ask",
    "verify": "mend what is named under Verification and complete, or ask",
    "report": "close what is open in the report, and complete",
}


def where(state: State, layout: Layout) -> str:
    """For the line at the foot of a window: `phase understand, step 3 of 12`; empty before there is a tree."""
    if not state.opened:
        return ""
    of = f" of {layout.steps}" if layout.steps else ""
    return f"phase {layout.phase}, step {state.phase_step}{of}"


def urged(state: State, layout: Layout) -> str:
    """What the model is told when the steps of a phase are used up; empty before."""
    if not layout.steps or state.phase_step < layout.steps:
        return ""
    now = f"write {state.task.report} now, with what you know" if state.task.report and not state.changed else NOW[layout.phase]
    return f"The {layout.steps} steps of this phase are used up: {now}."
