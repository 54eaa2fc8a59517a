"""The next call of a task: the last prompt with one step more where that pays, otherwise a new one under the ceiling."""

from dataclasses import dataclass, replace

from afresh.context.build_prompt import build_from_inputs, make_prompt_inputs
from afresh.context.calibration import provider_count
from afresh.context.compaction.compact_memory import compact_memory
from afresh.context.extend_or_rebuild import ExtensionDecision, decide_extension
from afresh.context.extend_prompt import compute_bound, estimate_costs, extend_prompt, find_obstacle, name_prompt_terms
from afresh.context.gather import gather_context, gather_last_step
from afresh.context.token_ceiling import (
    choose_ceiling,
    is_better,
    raise_ceiling,
    record_ceiling,
    release_reply_reserve,
    settings_for_call,
)
from afresh.core.prompt import Prompt
from afresh.core.reducer import apply_event
from afresh.core.reply import OFFLINE_MODEL
from afresh.core.state import State
from afresh.core.states.ceiling_state import compute_highest_ceiling
from afresh.errors import OverCeiling
from afresh.journal.append import append_events
from afresh.memory.gathered_context import GatheredContext
from afresh.runtime import CallSettings, Runtime


@dataclass(frozen=True, slots=True)
class PreparedCall:
    prompt: Prompt
    memory: GatheredContext
    settings: CallSettings
    """What it was built with."""
    decision: ExtensionDecision
    """Whether it extends the last prompt, and why."""


def prepare_call(state: State, runtime: Runtime) -> tuple[State, PreparedCall]:
    """Each round has a better count than the one before. OverCeiling when no ceiling is large enough."""
    while True:
        state = compact_memory(state, runtime)
        call = extend_last_call(state, runtime)
        if isinstance(call, ExtensionDecision):
            state, call = build_under_needed_ceiling(state, runtime, call)
        count = provider_count(call.prompt, state, runtime.model, call.settings.counter)
        if not count:
            return state, call
        state = append_events(state, runtime, [count])
        if not count.over:
            return state, call


def build_under_needed_ceiling(state: State, runtime: Runtime, why: ExtensionDecision) -> tuple[State, PreparedCall]:
    """Under the ceiling that was ordered, raised by what this prompt lacks; whatever the last one needed is forgotten."""
    first = change = choose_ceiling(state, runtime)
    call = build_call(apply_event(change, state), runtime, why)
    while (larger := raise_ceiling(first, change, _prompt_of(call), state.task, _find_cap(state, runtime, call))) is not change:
        again = build_call(apply_event(larger, state), runtime, why)
        if not is_better(_prompt_of(again), _prompt_of(call)):
            break
        change, call = larger, again
    if isinstance(call, OverCeiling):
        return build_under_needed_ceiling(release_reply_reserve(state, runtime, call), runtime, why)
    return record_ceiling(state, runtime, change, call.prompt), call


def _find_cap(state: State, runtime: Runtime, call: PreparedCall | OverCeiling) -> int:
    """Rules do not read: they get more than was ordered only if nothing could be sent otherwise."""
    enough = runtime.model.name == OFFLINE_MODEL and not isinstance(call, OverCeiling)
    return state.task.budget if enough else compute_highest_ceiling(state.task, runtime.model.window)


def _prompt_of(call: PreparedCall | OverCeiling) -> Prompt | OverCeiling:
    return call if isinstance(call, OverCeiling) else call.prompt


def extend_last_call(state: State, runtime: Runtime) -> PreparedCall | ExtensionDecision:
    """The last prompt and the last step; or why a new prompt is better."""
    policy, cap = runtime.settings.policy.allocation.extension, compute_highest_ceiling(state.task, runtime.model.window)
    bound = compute_bound(state, cap, policy)
    settings = settings_for_call(state, runtime, bound)
    if obstacle := find_obstacle(state, settings):
        return ExtensionDecision(False, obstacle)
    memory = gather_last_step(state, replace(runtime, settings=settings))
    inputs = make_prompt_inputs(memory, settings, bound)
    if state.tokens.prompt.terms != name_prompt_terms(inputs, runtime.model.name):
        return ExtensionDecision(False, "system text, tools, model or policy changed")
    try:
        prompt = extend_prompt(inputs, runtime.store.read)
    except OverCeiling:
        return ExtensionDecision(False, f"with the last step it would exceed {bound:,} tokens")
    decision = decide_extension(estimate_costs(prompt, state, _is_cache_expired(state, runtime)), settings.cache, policy)
    return PreparedCall(prompt, memory, settings, decision) if decision.extend else decision


def _is_cache_expired(state: State, runtime: Runtime) -> bool:
    """Only a provider's cache has a lifetime."""
    waited = runtime.clock.now() - state.times.called
    return runtime.settings.native and waited > runtime.settings.cache.lifetime_seconds


def build_call(state: State, runtime: Runtime, decision: ExtensionDecision) -> PreparedCall | OverCeiling:
    """Under the ceiling in force; if it is too small for what is never left out, the error that says so."""
    settings = settings_for_call(state, runtime)
    try:
        memory = gather_context(state, replace(runtime, settings=settings))
        prompt = build_from_inputs(make_prompt_inputs(memory, settings, state.budget))
    except OverCeiling as shortage:
        return shortage
    return PreparedCall(prompt, memory, settings, decision)
