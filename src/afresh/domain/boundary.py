"""Whether the work stands at a place where its past can be put away."""

from afresh.domain.state import State
from afresh.domain.verdict import Ruling


def find_compaction_obstacle(state: State) -> str:
    """Why not; empty when it does. What was changed must be verified, and the plan must tell of it."""
    if state.recent and not state.recent[-1].kept:
        return "the last change was undone: make one that holds first"
    if state.verdict and state.verdict.ruling is not Ruling.PASS:
        return f"what was verified last did not pass ({state.verdict.reason}): mend it first"
    changed = max((region.step for region in state.regions if region.changed), default=0)
    if changed > state.verdict_step and state.task.checks:
        return "the last change is not verified: run the tests first"
    if changed > state.planned and any(not item.done for item in state.plan):
        return "an item of the plan may be half done: bring the plan up to date, and compact in the next reply"
    return ""
