"""The next call of a task: the last prompt with one step more where that pays, otherwise a new one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.context.build_prompt import PromptInputs, build_from_inputs, make_prompt_inputs
from afresh.context.calibration import calibrate_counter, provider_count
from afresh.context.compaction.compact_memory import compact_memory
from afresh.context.extend_or_rebuild import ExtensionDecision, decide_extension
from afresh.context.extend_prompt import estimate_costs, extend_prompt, find_obstacle, name_prompt_terms
from afresh.context.gather import gather_context, gather_last_step
from afresh.context.limit import AS_ORDERED, choose_extension_limit, choose_limit
from afresh.core.event import CheckpointWritten, Event
from afresh.core.prompt import Prompt
from afresh.core.state import State
from afresh.core.states.ceiling_state import CeilingChanged, CeilingPressure, pressure_from_demand
from afresh.core.template import SectionShare, Template
from afresh.errors import OverCeiling
from afresh.journal.append import append_events
from afresh.policy.next_call import select_task_tools
from afresh.runtime import CallSettings, Runtime

YIELDING_SECTIONS = ("history", "coverage", "callers", "similar", "outline")
"""Under pressure they come last and get what the others leave; `search` finds what they show."""


@dataclass(frozen=True, slots=True)
class PreparedCall:
    prompt: Prompt
    inputs: PromptInputs
    settings: CallSettings
    """What it was built with."""
    decision: ExtensionDecision
    """Whether it extends the last prompt, and why."""


def prepare_call(state: State, runtime: Runtime) -> tuple[State, PreparedCall]:
    """Built once, and again if the provider counts more than its limit. OverCeiling when no limit is high enough."""
    while True:
        state = compact_memory(state, runtime)
        call = extend_last_call(state, runtime)
        if isinstance(call, ExtensionDecision):
            call = build_call(state, runtime, call)
            state = record_limit(state, runtime, call.prompt)
        count = provider_count(call.prompt, state, runtime.model, call.settings.counter)
        if not count:
            return state, call
        state = append_events(state, runtime, [count])
        if not count.over:
            return state, call


def extend_last_call(state: State, runtime: Runtime) -> PreparedCall | ExtensionDecision:
    """The last prompt and the last step; or why a new prompt is better."""
    settings = settings_for_call(state, runtime)
    limit = choose_extension_limit(state, settings.template, runtime.model.window, settings.policy)
    if obstacle := find_obstacle(state, settings):
        return ExtensionDecision(False, obstacle)
    inputs = make_prompt_inputs(gather_last_step(state, replace(runtime, settings=settings)), settings, limit)
    if state.tokens.prompt.terms != name_prompt_terms(inputs, runtime.model.name):
        return ExtensionDecision(False, "system text, tools, model or policy changed")
    try:
        prompt = extend_prompt(inputs, runtime.store.read)
    except OverCeiling:
        return ExtensionDecision(False, f"with the last step it would exceed {limit.highest:,} tokens")
    costs = estimate_costs(prompt, state, limit.highest, _is_cache_expired(state, runtime))
    decision = decide_extension(costs, settings.cache)
    return PreparedCall(prompt, inputs, settings, decision) if decision.extend else decision


def _is_cache_expired(state: State, runtime: Runtime) -> bool:
    """Only a provider's cache has a lifetime."""
    waited = runtime.clock.now() - state.times.called
    return runtime.settings.native and waited > runtime.settings.cache.lifetime_seconds


def build_call(state: State, runtime: Runtime, decision: ExtensionDecision) -> PreparedCall:
    settings = settings_for_call(state, runtime)
    limit = choose_limit(state, settings.template, runtime.model.window, runtime.model.name)
    inputs = make_prompt_inputs(gather_context(state, replace(runtime, settings=settings)), settings, limit)
    return PreparedCall(build_from_inputs(inputs), inputs, settings, decision)


def record_limit(state: State, runtime: Runtime, prompt: Prompt) -> State:
    """The limit, unless the last prompt had the same for the same reason; and a checkpoint, once, when what is never left out
    fills the ordered one."""
    events: list[Event] = []
    if prompt.budget != state.budget or prompt.reason not in (AS_ORDERED, state.tokens.ceiling.reason):
        events.append(CeilingChanged(state.work.step, state.budget, prompt.budget, prompt.reason))
    ordered, never = min(state.task.budget, prompt.budget), prompt.demand
    if pressure_from_demand(never, ordered) is CeilingPressure.CRITICAL and not state.tokens.ceiling.saved:
        why = f"what is never left out takes {never:,} tokens, {ordered:,} were ordered"
        events.append(CheckpointWritten(state.work.step, why))
    return append_events(state, runtime, events) if events else state


def settings_for_call(state: State, runtime: Runtime) -> CallSettings:
    """With the calibrated counter, the tools that the task has, and a template that leaves more room when the last call was under
    pressure."""
    template = runtime.settings.template
    if state.tokens.last_call.needs_pressure is not CeilingPressure.CALM:
        phases = tuple(replace(phase, shares=_move_yielding_last(phase.shares)) for phase in template.phases)
        template = replace(template, shares=_move_yielding_last(template.shares), phases=phases)
    return replace(
        runtime.settings,
        counter=calibrate_counter(state, runtime),
        template=_adapt_template_to_model(template, state, runtime),
        tools=select_task_tools(runtime.settings.tools, state.task, template),
    )


def _adapt_template_to_model(template: Template, state: State, runtime: Runtime) -> Template:
    """To the model that is asked: only some can be told how long to think. Tokens for thinking are part of what was ordered,
    never of what the limit was raised by."""
    given, most = state.task.thinking if runtime.settings.native else 0, max(0, state.task.budget - template.ceiling)
    phases = tuple(replace(phase, thinking=min(most, phase.thinking if given is None else given)) for phase in template.phases)
    thinking = min(most, template.thinking if given is None else given)
    return replace(template, thinking=thinking, phases=phases)


def _move_yielding_last(shares: Sequence[SectionShare]) -> tuple[SectionShare, ...]:
    yielding = [replace(share, part=0.0) for share in shares if share.section in YIELDING_SECTIONS]
    yielding.sort(key=lambda share: YIELDING_SECTIONS.index(share.section))
    return (*[share for share in shares if share.section not in YIELDING_SECTIONS], *yielding)
