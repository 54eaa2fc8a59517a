"""What is not done again once the strategy was to change: the very action that was repeated, while the tree is the same."""

from afresh.domain.action import Action
from afresh.domain.course import Escalation
from afresh.domain.state import State
from afresh.engine.stall.signature import hash_action

REPEATED_ACTION_REFUSED = "not done again"


def refuse_repeated_action(action: Action, state: State) -> str:
    """Why, or nothing."""
    barred = [one for one in state.course.alarms if one.rung is not Escalation.WARN and one.keys]
    if not barred:
        return ""
    asked = hash_action(action, state.snapshot)
    return next(
        (f"{REPEATED_ACTION_REFUSED}: {one.evidence}; nothing has changed since" for one in barred if asked in one.keys), ""
    )
