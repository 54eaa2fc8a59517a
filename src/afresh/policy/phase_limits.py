"""Where a task stands in its phases, what that means for the next step, and when a person has to be asked. Pure."""

from dataclasses import replace
from enum import StrEnum

from afresh.core.state import State
from afresh.core.states.strategy_state import StrategyPace
from afresh.core.task import Task
from afresh.core.template import LOOKING_PHASES, CallLayout
from afresh.core.tool_traits import ToolTrait, select_tools_by_trait

URGE_BY_PHASE = {
    "understand": "make the first change now, with what you know",
    "change": "finish what is begun, then complete or ask",
    "verify": "fix what Verification names and complete, or ask",
    "scan": "list the parts in the plan, and go on part by part",
    "analyse": "write the report now, with what you know",
    **dict.fromkeys(("report", "synthesise"), "close what is open in the report, and complete"),
}
AFTER_REVERTS_URGE = "every change so far was undone: find out why, then make a smaller one, or ask"
INSPECTING = (ToolTrait.READS, ToolTrait.PRINTS, ToolTrait.ARRANGES)
ORDINARY_TASK_STEPS = 60
"""Steps of a task that the budgets of templates are made for."""


ALL_PASS_CUE = "The tests that ran pass{}. Call `complete` only if all that the task asks for is there (code, tests, docs)."


class PhasePressure(StrEnum):
    OPEN = "open"
    URGED = "urged"
    """The budget is used up, and the window says so."""
    PRESSED = "pressed"
    """The grace is used up too: what only looks is refused."""
    SPENT = "spent"
    """A person is asked."""


def describe_phase_position(state: State, layout: CallLayout) -> str:
    """For the line at the foot of a window: `phase understand, step 3 of 12`; empty before there is a tree."""
    if not state.workspace.first_snapshot:
        return ""
    of = f" of {layout.steps}" if layout.steps else ""
    return f"phase {layout.phase}, step {state.phase_step}{of}"


def suggest_completion(layout: CallLayout, state: State) -> CallLayout:
    """The layout with a hint in place of advice on how to work, when what is left may be to complete."""
    if layout.phase != "change" or not (is_last_look(state) and state.verification.is_green):
        return layout
    red = bool(state.verification.verdict and state.verification.verdict.still_failing)
    cue = ALL_PASS_CUE.format(", but for those that failed before the task" if red else "")
    return replace(layout, cue="\n".join(part for part in (layout.cue, cue) if part), guidance="")


def is_last_look(state: State) -> bool:
    """After a kept change with passing checks, or in the phase that verifies, unless the plan has open items."""
    if not state.workspace.changed or any(not item.done for item in state.work.plan):
        return False
    return state.verification.is_green or state.phase == "verify"


def count_phase_steps(state: State) -> int:
    """Steps of the phase before the one that is next or under way: the same before its call and after it."""
    return state.phase_step - 1 - (state.work.pending is not None)


def scale_phase_steps(task: Task, steps: int) -> int:
    """Of a phase, for the harness: whoever orders more steps than usual gets more of them in every phase."""
    return max(steps, steps * task.max_steps // ORDINARY_TASK_STEPS)


def phase_pressure_from_state(state: State, layout: CallLayout, pace: StrategyPace) -> PhasePressure:
    """Only a person's word leads back: it starts the count anew. A scan is never cut off: a plan ends it."""
    if not layout.steps or count_phase_steps(state) + 1 < layout.steps:
        return PhasePressure.OPEN
    over = count_phase_steps(state) - scale_phase_steps(state.task, layout.steps)
    if not pace.grace or over < pace.grace or layout.phase == "scan":
        return PhasePressure.URGED
    if layout.phase not in LOOKING_PHASES or over >= 2 * pace.grace:
        return PhasePressure.SPENT
    return PhasePressure.PRESSED


def press_layout(layout: CallLayout, state: State, pace: StrategyPace) -> CallLayout:
    """The layout with what follows from the steps that the phase has had."""
    now = phase_pressure_from_state(state, layout, pace)
    if now is PhasePressure.OPEN:
        return layout
    cue = "\n".join(part for part in (layout.cue, render_phase_urge(state, layout)) if part)
    return replace(
        layout,
        cue=cue,
        closed=layout.closed
        if now is PhasePressure.URGED
        else (*layout.closed, *select_tools_by_trait(layout.tools, *INSPECTING)),
    )


def render_phase_urge(state: State, layout: CallLayout) -> str:
    """The words for the model when the steps of a phase are used up."""
    now = URGE_BY_PHASE[layout.phase]
    if state.task.report and not state.workspace.changed and layout.phase != "scan":
        now = f"write {state.task.report} now, with what you know"
    elif layout.phase == "change" and not state.workspace.changed:
        now = AFTER_REVERTS_URGE
    return f"The {layout.steps} steps of this phase are used up: {now}."
