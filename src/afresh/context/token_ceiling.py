"""How much room a prompt gets: as ordered, and by what is missing more, for the step that needs it. Every change is on record."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.context.calibration import calibrate_counter
from afresh.core.event import CheckpointWritten, Event
from afresh.core.prompt import Prompt, Section, Tier
from afresh.core.reply import OFFLINE_MODEL
from afresh.core.state import State
from afresh.core.states.ceiling_state import (
    NEGLIGIBLE_TOKENS,
    WISH_TOKENS,
    CeilingChanged,
    CeilingPressure,
    ReserveChanged,
    compute_highest_ceiling,
    count_open_wishes,
    pressure_from_demand,
    round_up_ceiling,
)
from afresh.core.task import Task
from afresh.core.template import SectionShare, Template
from afresh.core.tokens import TokenCounter
from afresh.core.truncate import to_one_line
from afresh.errors import OverCeiling
from afresh.journal.append import append_events
from afresh.policy.next_call import select_task_tools
from afresh.runtime import CallSettings, Runtime

MIN_FREE_SHARE = 0.2
"""Of a ceiling that was raised for what is never left out, for the rest."""
MAX_READ_FACTOR = 2
"""By how much the lines of the last step may raise the ceiling: to so many times the ordered one."""
MAX_REPLY_SHARE = 0.5
"""Of the ceiling."""
REPLY_FACTOR_BY_PHASE = {"change": 2.0, "report": 2.0, "synthesise": 2.0}
"""How long replies are likely to be, relative to what the template keeps for them: to look takes fewer words than to change."""
EXTENDED_REPLY_FACTOR = 2
"""In a prompt that extends another a longer reply takes no tokens from code."""
AS_ORDERED = "as ordered: nothing more is needed"


def choose_ceiling(state: State, runtime: Runtime) -> CeilingChanged:
    """Pure: the ceiling that a prompt is built under first. As ordered; more for a reply that is likely to be longer than usual,
    and for a few steps after the agent has asked."""
    ordered, cap = state.task.budget, compute_highest_ceiling(state.task, runtime.model.window)
    if runtime.model.name == OFFLINE_MODEL:
        return CeilingChanged(state.work.step, state.budget, ordered, AS_ORDERED)
    usual, likely = _usual_reply_tokens(state, runtime.settings.template), _likely_reply_tokens(state, runtime.settings.template)
    wishes = count_open_wishes(state.tokens.ceiling, state.work.step)
    wanted = ordered + max(0, likely - usual) + wishes * WISH_TOKENS
    reasons = [f"a reply may need {likely:,} tokens"] if likely > usual and cap > ordered else []
    if wishes:
        limit = "" if wanted <= cap else f", but {cap:,} is the highest"
        reasons.append(f"the agent asked: {to_one_line(state.tokens.ceiling.wanted, 200)}{limit}")
    return CeilingChanged(state.work.step, state.budget, min(wanted, cap), "; ".join(reasons) or AS_ORDERED)


def _usual_reply_tokens(state: State, template: Template) -> int:
    """The template's share of the ordered ceiling, and of no larger one than its own: replies do not grow with it."""
    return int(template.at(state.phase).reserve * min(state.task.budget, template.ceiling))


def _likely_reply_tokens(state: State, template: Template) -> int:
    """By phase, or by what the last replies needed. Beyond the usual in whole steps, up to half of the ceiling that it makes."""
    usual = _usual_reply_tokens(state, template)
    by_phase = int(usual * REPLY_FACTOR_BY_PHASE.get(state.phase, 1.0))
    likely = max(by_phase, state.tokens.reserve.largest)
    most = max(usual, state.task.budget - usual)
    return likely if likely <= usual else min(most, usual + round_up_ceiling(likely - usual))


def reserve_reply_tokens(state: State, template: Template, budget: int) -> int:
    """Tokens for the reply under this ceiling, besides those for thinking. Where it could not be raised for a long reply, what
    the last replies needed is taken from what may be left out of the prompt."""
    usual, likely = _usual_reply_tokens(state, template), _likely_reply_tokens(state, template)
    granted = max(usual, usual + budget - state.task.budget)
    if likely <= granted:
        return likely
    last = state.tokens.last_call
    free = int(budget * (1 - MIN_FREE_SHARE)) - (last.demand - last.reserve + last.thinking)
    return max(granted, min(state.tokens.reserve.largest, int(budget * MAX_REPLY_SHARE), free))


def raise_ceiling(
    first: CeilingChanged, change: CeilingChanged, built: Prompt | OverCeiling, task: Task, cap: int
) -> CeilingChanged:
    """Pure: a ceiling with room for what is missing in what was built, rounded up; or the same when nothing is, or no more is
    allowed. The reason is that of the first ceiling and what was missing under it."""
    if isinstance(built, OverCeiling):
        missing, why = max(1, built.missing), built.evidence
    elif pressure_from_demand(built.demand, built.budget) is CeilingPressure.CRITICAL:
        missing = int(built.demand / (1 - MIN_FREE_SHARE)) - change.budget
        why = f"what is never left out takes {built.demand:,} of {built.budget:,} tokens"
    elif built.unread > NEGLIGIBLE_TOKENS:
        cap, missing = min(cap, max(change.budget, MAX_READ_FACTOR * task.budget)), built.unread
        why = f"{built.unread:,} tokens of what was read or edited lately had no room"
    else:
        return change
    larger = min(cap, round_up_ceiling(change.budget + missing))
    if larger <= change.budget:
        return change
    if change is not first:
        return replace(change, budget=larger)
    return replace(change, budget=larger, reason=why if first.reason == AS_ORDERED else f"{first.reason}; {why}")


def is_better(built: Prompt | OverCeiling, before: Prompt | OverCeiling) -> bool:
    """Whether a larger ceiling has brought anything but filler."""
    if isinstance(before, OverCeiling) or isinstance(built, OverCeiling):
        return isinstance(before, OverCeiling)
    critical = pressure_from_demand(before.demand, before.budget) is CeilingPressure.CRITICAL
    return critical or built.unread < before.unread


def record_ceiling(state: State, runtime: Runtime, change: CeilingChanged, window: Prompt) -> State:
    """The change, unless the last prompt had the same ceiling for the same reason; and a checkpoint, once, when what is never
    left out fills the ordered ceiling."""
    events: list[Event] = []
    if change.budget != state.budget or change.reason not in (AS_ORDERED, state.tokens.ceiling.reason):
        events.append(change)
    spoken = window.request.reserve - window.request.thinking
    demand = window.demand - max(0, spoken - _usual_reply_tokens(state, runtime.settings.template))
    ordered = min(state.task.budget, window.budget)
    if pressure_from_demand(demand, ordered) is CeilingPressure.CRITICAL and not state.tokens.ceiling.saved:
        why = f"what is never left out takes {demand:,} tokens, {ordered:,} were ordered"
        events.append(CheckpointWritten(state.work.step, why))
    return append_events(state, runtime, events) if events else state


def release_reply_reserve(state: State, runtime: Runtime, shortage: OverCeiling) -> State:
    """Without the tokens that are kept for long replies; if there are none, the error is raised."""
    if not state.tokens.reserve.needs:
        raise shortage
    share = round(state.tokens.last_call.reserve / max(1, state.tokens.last_call.budget), 3)
    return append_events(state, runtime, [ReserveChanged(state.work.step, share, 0.0, shortage.evidence)])


def settings_for_call(state: State, runtime: Runtime, budget: int = 0) -> CallSettings:
    """With the calibrated counter, the tools that the task has, what is kept for the reply under this ceiling (the one in force,
    or the one given for a prompt that extends another), and a template that leaves more room when the last call was under
    pressure."""
    template = runtime.settings.template
    reply = reserve_reply_tokens(state, template, budget or state.budget)
    if budget > state.budget:
        reply = max(reply, EXTENDED_REPLY_FACTOR * _usual_reply_tokens(state, template))
    template = replace(template, phases=tuple(replace(phase, reply=reply) for phase in template.phases))
    if state.tokens.last_call.needs_pressure is not CeilingPressure.CALM:
        template = _reduce_sections(template, runtime.settings.policy.allocation.sections_reduced_under_pressure)
    return replace(
        runtime.settings,
        counter=calibrate_counter(state, runtime),
        template=_adapt_template_to_model(template, state, runtime),
        tools=select_task_tools(runtime.settings.tools, state.task),
    )


def _adapt_template_to_model(template: Template, state: State, runtime: Runtime) -> Template:
    """To the model that is asked: only some can be told how long to think. Tokens for thinking are part of what was ordered,
    never of what the ceiling was raised by."""
    given, most = state.task.thinking if runtime.settings.native else 0, max(0, state.task.budget - template.ceiling)
    phases = tuple(replace(phase, thinking=min(most, phase.thinking if given is None else given)) for phase in template.phases)
    thinking = min(most, template.thinking if given is None else given)
    return replace(template, thinking=thinking, phases=phases)


def _reduce_sections(template: Template, names: Sequence[str]) -> Template:
    """The yielding sections come last and get what all others leave."""
    phases = tuple(replace(phase, shares=_move_reduced_last(phase.shares, names)) for phase in template.phases)
    return replace(template, shares=_move_reduced_last(template.shares, names), phases=phases)


def _move_reduced_last(shares: Sequence[SectionShare], names: Sequence[str]) -> tuple[SectionShare, ...]:
    reduced = [replace(share, part=0.0) for share in shares if share.section in names]
    reduced.sort(key=lambda share: names.index(share.section))
    return (*[share for share in shares if share.section not in names], *reduced)


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
    needed = int((budget - room) / (1 - MIN_FREE_SHARE))
    return OverCeiling(
        f"{evidence} under the limit of {budget:,} tokens a call ({reserve:,} of them for the reply), and it is never cut. "
        "Nothing was sent.",
        evidence,
        missing=needed - budget,
        needed=needed,
    )
