"""The next call of a task: choose the ceiling, gather, build, count. And what goes on record of it."""

from dataclasses import dataclass, replace

from afresh.context.build_prompt import build_best_prompt, select_offered_tools
from afresh.context.calibration import provider_count
from afresh.context.compaction.compact_memory import compact_memory
from afresh.context.gather import gather_context
from afresh.context.token_ceiling import (
    choose_ceiling,
    is_better,
    raise_ceiling,
    record_ceiling,
    release_reply_reserve,
    settings_for_call,
)
from afresh.core.ceiling_state import compute_highest_ceiling
from afresh.core.prompt import Prompt
from afresh.core.reducer import apply_event
from afresh.core.state import State
from afresh.errors import OverCeiling
from afresh.journal.append import append_events
from afresh.memory.gathered_context import GatheredContext
from afresh.policy.next_call import layout_for_next_call
from afresh.runtime import CallSettings, Runtime


@dataclass(frozen=True, slots=True)
class PreparedCall:
    prompt: Prompt
    memory: GatheredContext
    settings: CallSettings
    """What it was built with."""


def prepare_call(state: State, runtime: Runtime) -> tuple[State, PreparedCall]:
    """Each round has a better count than the one before. OverCeiling when no ceiling is large enough."""
    while True:
        state, call = build_under_needed_ceiling(compact_memory(state, runtime), runtime)
        count = provider_count(call.prompt, state, runtime.model, call.settings.counter)
        if not count:
            return state, call
        state = append_events(state, runtime, [count])
        if not count.over:
            return state, call


def build_under_needed_ceiling(state: State, runtime: Runtime) -> tuple[State, PreparedCall]:
    """Under the ceiling that was ordered, raised by what this prompt lacks; whatever the last one needed is forgotten."""
    cap = compute_highest_ceiling(state.task, runtime.model.window)
    first = change = choose_ceiling(state, runtime)
    call = build_call(apply_event(change, state), runtime)
    while (larger := raise_ceiling(first, change, _prompt_of(call), state.task, cap)) is not change:
        again = build_call(apply_event(larger, state), runtime)
        if not is_better(_prompt_of(again), _prompt_of(call)):
            break
        change, call = larger, again
    if isinstance(call, OverCeiling):
        return build_under_needed_ceiling(release_reply_reserve(state, runtime, call), runtime)
    return record_ceiling(state, runtime, change, call.prompt), call


def _prompt_of(call: PreparedCall | OverCeiling) -> Prompt | OverCeiling:
    return call if isinstance(call, OverCeiling) else call.prompt


def build_call(state: State, runtime: Runtime) -> PreparedCall | OverCeiling:
    """Under the ceiling in force; if it is too small for what is never left out, the error that says so."""
    settings = settings_for_call(state, runtime)
    tools = select_offered_tools(layout_for_next_call(state, settings.template), settings.tools)
    try:
        memory = gather_context(state, replace(runtime, settings=settings))
        prompt = build_best_prompt(memory, settings.template, tools, state.budget, settings.counter)
    except OverCeiling as shortage:
        return shortage
    return PreparedCall(prompt, memory, settings)
