"""What a finished task leaves open by its own plan: named in the verdict, so that no PASS is silent about it."""

from dataclasses import replace

from afresh.core.state import State
from afresh.core.step_result import StepActions, find_current_plan
from afresh.core.verdict import Ruling, Verdict, describe_open_items


def name_open_items(verdict: Verdict, state: State, deeds: StepActions) -> Verdict:
    """The verdict that ends a task, with the items of its plan that were not done. A refused one goes back to work: its plan is
    shown there anyway."""
    left = tuple(item.text for item in find_current_plan(state.work.plan, deeds) if not item.done)
    if not left or not verdict.final or verdict.ruling is Ruling.FAIL:
        return verdict
    evidence = replace(verdict.evidence, open_items=left)
    return replace(verdict, evidence=evidence, reason=f"{verdict.reason}; open in the plan: {describe_open_items(evidence)}")
