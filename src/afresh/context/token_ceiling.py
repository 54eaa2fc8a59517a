"""How much room a call gets: as ordered, more for a reason, and back again. Every change is on record."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.context.calibration import calibrate_counter
from afresh.context.sources.instructions import gather_instructions
from afresh.core.ceiling_forecast import can_afford_tool, project_prompt_tokens
from afresh.core.ceiling_state import (
    CALM_STEPS_BEFORE_LOWERING,
    NEGLIGIBLE_TOKENS,
    CallFigures,
    CeilingChanged,
    CeilingPressure,
    ReserveChanged,
    compute_highest_ceiling,
    find_next_ceiling_down,
    find_next_ceiling_up,
    pressure_from_demand,
)
from afresh.core.event import CheckpointWritten
from afresh.core.prompt import Prompt, Section, Tier
from afresh.core.state import State
from afresh.core.template import SectionShare, Template
from afresh.core.tokens import TokenCounter
from afresh.core.truncate import to_one_line
from afresh.errors import OverCeiling
from afresh.journal.append import append_events
from afresh.policy.next_call import select_task_tools
from afresh.runtime import CallSettings, Runtime

RESERVE_GROWTH_FACTOR = 1.6
MAX_RESERVE_SHARE = 0.5
MIN_FREE_SHARE = 0.2
MIN_USEFUL_GROWTH_FACTOR = 1.15
"""By how much the reserve of a reply grows that was too short, up to which share of the ceiling; which share stays for what may
be left out; and growth that is too little to be of use."""
FAILED_STEPS_BEFORE_RAISE = 2
"""Steps in a row that fail while something is left out."""


def decide_ceiling_change(state: State, cap: int) -> CeilingChanged | None:
    """Pure: what the steps so far say about the ceiling. At most one level at a time."""
    room, budget, ordered = state.tokens.ceiling, state.budget, state.task.budget
    if budget > cap:
        return CeilingChanged(
            state.work.step, budget, cap, f"{cap:,} is the most that this model's window and the task's limit allow"
        )
    larger, lower = find_next_ceiling_up(budget, ordered, cap), find_next_ceiling_down(budget, ordered)
    if room.wanted:
        limit = "" if larger > budget else f", but {budget:,} is the limit"
        return CeilingChanged(state.work.step, budget, larger, f"the agent asked: {to_one_line(room.wanted, 200)}{limit}")
    if room.failing >= FAILED_STEPS_BEFORE_RAISE and larger > budget:
        return CeilingChanged(
            state.work.step,
            budget,
            larger,
            f"{room.failing} steps in a row failed while {_describe_omitted_tokens(state.tokens.last_call)}",
        )
    if room.again and larger > budget:
        why = (
            f"lines that had been seen were read again while {state.tokens.last_call.unmet:,} tokens that were asked for "
            "had no room"
        )
        return CeilingChanged(state.work.step, budget, larger, why)
    if lower < budget and room.calm >= room.patience and _can_work_under(state, lower):
        why = (
            f"{room.calm} calm steps in a row: {project_prompt_tokens(state, lower):,} of {lower:,} tokens are enough "
            "for the next"
        )
        return CeilingChanged(state.work.step, budget, lower, why)
    return None


def reply_reserve_change(state: State, usual: float, cap: int) -> ReserveChanged | CeilingChanged | None:
    """Pure: what the replies so far say about the room that is kept for them. More of the same ceiling first; a larger one where
    what is never left out has taken the rest; and as usual again when that would have been enough for a while."""
    reserve, last, budget = state.tokens.reserve, state.tokens.last_call, state.budget
    share = reserve.share or usual
    if reserve.share and reserve.short >= CALM_STEPS_BEFORE_LOWERING:
        why = f"{reserve.short} replies in a row had room in the usual {reserve.usual:.0%}"
        return ReserveChanged(state.work.step, reserve.share, 0.0, why)
    if not reserve.cramped or not last.budget:
        return None
    never = last.demand - last.reserve + last.thinking
    free = (budget * (1 - MIN_FREE_SHARE) - never) / max(1, budget - last.thinking)
    grown, larger = (
        min(RESERVE_GROWTH_FACTOR * share, MAX_RESERVE_SHARE, free),
        find_next_ceiling_up(budget, state.task.budget, cap),
    )
    why = f"{last.reserve:,} tokens were too few for the last reply"
    if grown >= share * MIN_USEFUL_GROWTH_FACTOR:
        return ReserveChanged(state.work.step, share, round(grown, 3), why)
    return CeilingChanged(state.work.step, budget, larger, why) if larger > budget else None


def _describe_omitted_tokens(reading: CallFigures) -> str:
    if reading.unmet:
        return f"{reading.unmet:,} tokens that were asked for had no room"
    return f"about {reading.omitted:,} tokens were left out of the window"


def _can_work_under(state: State, lower: int) -> bool:
    """What the last steps used would have its place under the lower ceiling, and so would its like."""
    tools = {seen.action.tool for past in state.memory.recent[-state.tokens.ceiling.patience :] for seen in past.observations}
    return project_prompt_tokens(state, lower) <= lower and all(can_afford_tool(state, tool, lower) for tool in tools)


def update_ceiling(state: State, runtime: Runtime) -> State:
    """The ceiling for the next call, from what the steps so far have shown."""
    cap = compute_highest_ceiling(state.task, runtime.model.window)
    if speech := reply_reserve_change(state, runtime.settings.template.at(state.phase).reserve, cap):
        state = append_events(state, runtime, [speech])
    change = decide_ceiling_change(state, cap)
    if change and (not change.budget < state.budget <= cap or _can_fit_instructions(state, runtime, change.budget)):
        state = append_events(state, runtime, [change])
    if state.tokens.last_call.pressure is CeilingPressure.CRITICAL and not state.tokens.ceiling.saved:
        why = f"what is never left out took {state.tokens.last_call.demand:,} of {state.tokens.last_call.budget:,} tokens"
        state = append_events(state, runtime, [CheckpointWritten(state.work.step, why)])
    return state


def _can_fit_instructions(state: State, runtime: Runtime, ceiling: int) -> bool:
    """Otherwise a lower ceiling would have to be raised again at once."""
    try:
        list(gather_instructions(state, runtime, ceiling))
    except OverCeiling:
        return False
    return True


def settings_for_call(state: State, runtime: Runtime) -> CallSettings:
    """With the calibrated counter, the tools that the task has, and a template that leaves more room when the last call was under
    pressure."""
    template = _raise_reply_reserve(runtime.settings.template, state.tokens.reserve.share)
    if state.tokens.last_call.pressure is not CeilingPressure.CALM:
        template = _reduce_sections(template, runtime.settings.policy.allocation.sections_reduced_under_pressure)
    return replace(
        runtime.settings,
        counter=calibrate_counter(state, runtime),
        template=_adapt_template_to_model(template, state, runtime),
        tools=select_task_tools(runtime.settings.tools, state.task),
    )


def _adapt_template_to_model(template: Template, state: State, runtime: Runtime) -> Template:
    """To the model that is asked: only some can be told how long to think, and take their own last reply back."""
    thinking = state.task.thinking if runtime.settings.native else 0
    if thinking is not None:
        phases = tuple(replace(phase, thinking=thinking) for phase in template.phases)
        template = replace(template, thinking=thinking, phases=phases)
    return replace(template, native=runtime.settings.native and state.tokens.last_call.model == runtime.model.name)


def _raise_reply_reserve(template: Template, share: float) -> Template:
    """With at least this share of the ceiling for the reply."""
    phases = tuple(replace(phase, reserve=max(phase.reserve, share)) for phase in template.phases)
    return replace(template, reserve=max(template.reserve, share), phases=phases)


def _reduce_sections(template: Template, names: Sequence[str]) -> Template:
    """The yielding sections come last and get what all others leave."""
    phases = tuple(replace(phase, shares=_move_reduced_last(phase.shares, names)) for phase in template.phases)
    return replace(template, shares=_move_reduced_last(template.shares, names), phases=phases)


def _move_reduced_last(shares: Sequence[SectionShare], names: Sequence[str]) -> tuple[SectionShare, ...]:
    reduced = [replace(share, part=0.0) for share in shares if share.section in names]
    reduced.sort(key=lambda share: names.index(share.section))
    return (*[share for share in shares if share.section not in names], *reduced)


def find_ceiling_shortage(window: Prompt, state: State, runtime: Runtime) -> str:
    """Why a prompt is better built again under a larger ceiling, as long as there is one: hardly anything but what must be in has
    space, or what was just looked at has none, and would have it then: to be asked for it again costs a step."""
    larger = _find_larger_ceiling(state, runtime)
    if larger == state.budget:
        return ""
    if pressure_from_demand(window.demand, window.budget) is CeilingPressure.CRITICAL:
        return f"critical pressure: what is never left out takes {window.demand:,} of {window.budget:,} tokens"
    if NEGLIGIBLE_TOKENS < window.unread <= (larger - state.budget) * 3 // 4:
        return f"{window.unread:,} tokens of what the last step has looked at have no room"
    return ""


def _find_larger_ceiling(state: State, runtime: Runtime) -> int:
    return find_next_ceiling_up(state.budget, state.task.budget, compute_highest_ceiling(state.task, runtime.model.window))


def raise_ceiling(state: State, runtime: Runtime, shortage: str | OverCeiling) -> State:
    """One level up, with a checkpoint. When there is none, replies give back what they had beyond the usual; an error that is
    left then is raised."""
    larger, evidence = _find_larger_ceiling(state, runtime), shortage if isinstance(shortage, str) else shortage.evidence
    if larger > state.budget:
        change = CeilingChanged(state.work.step, state.budget, larger, evidence)
        return append_events(state, runtime, [change, CheckpointWritten(state.work.step, evidence)])
    if state.tokens.reserve.share:
        return append_events(state, runtime, [ReserveChanged(state.work.step, state.tokens.reserve.share, 0.0, evidence)])
    raise shortage if isinstance(shortage, OverCeiling) else OverCeiling(shortage)


HARNESS_SECTIONS = ("system", "tools", "footer")


def enforce_ceiling(window: Prompt, counter: TokenCounter) -> Prompt:
    """The ceiling holds for what is really sent, not for the sum of its parts."""
    whole = counter.whole(window.request)
    if whole + window.request.reserve > window.budget:
        raise over_ceiling_error(
            window.budget, window.request.reserve, window.sections, window.budget - window.request.reserve - whole
        )
    return replace(window, tokens=whole)


def over_ceiling_error(budget: int, reserve: int, sections: Sequence[Section], room: int) -> OverCeiling:
    """Names the largest part that the task has brought, as long as without it there would be room: system text and tools are
    nobody's to shorten."""
    never_cut = sorted((part for part in sections if part.tier is Tier.ALWAYS), key=lambda part: part.tokens, reverse=True)
    named = next((part for part in never_cut if part.name not in HARNESS_SECTIONS and part.tokens + room > 0), never_cut[0])
    evidence = f"section '{named.name}' needs {named.tokens:,} tokens, {max(0, named.tokens + room):,} are left"
    return OverCeiling(
        f"{evidence} under the ceiling of {budget:,} ({reserve:,} of them are kept for the reply), and it is never cut. "
        f"Nothing was sent. Add the task again with {'fewer words or ' if named.name == 'task' else ''}a larger --max-budget",
        evidence,
    )
