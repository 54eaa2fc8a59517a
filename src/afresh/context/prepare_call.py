"""The next call of a task: choose the ceiling, gather, build, count. And what goes on record of it."""

from dataclasses import dataclass, replace

from afresh.context.build_prompt import build_best_prompt, select_offered_tools
from afresh.context.calibration import provider_count
from afresh.context.compaction.compact_memory import compact_memory
from afresh.context.gather import gather_context
from afresh.context.token_ceiling import find_ceiling_shortage, raise_ceiling, settings_for_call, update_ceiling
from afresh.core.prompt import Prompt
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
    """Each round has a larger ceiling or a better count than the one before. OverCeiling when no ceiling is large enough."""
    while True:
        state = compact_memory(update_ceiling(state, runtime), runtime)
        call = build_call(state, runtime)
        if isinstance(call, OverCeiling):
            state = raise_ceiling(state, runtime, call)
        elif shortage := find_ceiling_shortage(call.prompt, state, runtime):
            state = raise_ceiling(state, runtime, shortage)
        elif count := provider_count(call.prompt, state, runtime.model, call.settings.counter):
            state = append_events(state, runtime, [count])
            if not count.over:
                return state, call
        else:
            return state, call


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
