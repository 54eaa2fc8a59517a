"""What is not done again once the strategy was to change: the very action that was repeated, while the tree is the same."""

from afresh.domain.action import Action
from afresh.domain.course import Rung
from afresh.domain.state import State
from afresh.engine.stall.signature import key

REFUSED = "not done again"


def refused(action: Action, state: State) -> str:
    """Why, or nothing."""
    barred = [one for one in state.course.alarms if one.rung is not Rung.WARN and one.keys]
    if not barred:
        return ""
    asked = key(action, state.snapshot)
    return next((f"{REFUSED}: {one.evidence}; nothing has changed since" for one in barred if asked in one.keys), "")
