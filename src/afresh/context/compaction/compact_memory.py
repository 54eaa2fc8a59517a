"""Memory between two steps: when it is nearly full, or the agent asks for it, old passages give way to a summary."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from afresh.context.calibration import calibrate_counter
from afresh.core.decision import Decision
from afresh.core.event import DecisionMade, Event, MemoryCompacted
from afresh.core.progress_event import WorkNotice
from afresh.core.reducer import apply_event
from afresh.core.spending import CallPurpose
from afresh.core.state import State
from afresh.core.step_history import CompactionPolicy, HookAnswer, Passage, Summary, compute_pool_fullness, update_kept_words
from afresh.core.template import Template
from afresh.journal.append import append_events
from afresh.memory.history.score import weights_from_policy
from afresh.memory.history.trace import Trace
from afresh.memory.passage_retention import (
    MIN_COMPACTION_GAIN_SHARE,
    classify_passage,
    compute_memory_capacity,
    count_passage_characters,
    has_aged,
    is_memory_full,
    measure_fullness,
    select_passages_to_drop,
)
from afresh.memory.summarise import (
    CountTokens,
    WrittenSummary,
    join_entry_lines,
    summarise_by_model,
    summarise_passages,
    summarise_steps,
)
from afresh.models.call import SideCall
from afresh.runtime import Runtime


@dataclass(frozen=True, slots=True)
class MemoryCompactionPlan:
    """What would go, and what would be left of it in words."""

    by: str
    gone: tuple[int, ...]
    passages: frozenset[Passage]
    summary: Summary


def compact_memory(state: State, runtime: Runtime) -> State:
    """One commit, if memory is nearly full or the agent has asked for it and the user's hook lets it be."""
    policy = runtime.settings.template.pruning
    alert = find_context_alert(state, policy)
    if not (state.memory.keep or alert or is_memory_full(state.memory.passages, state.task.budget, policy)):
        return state
    trace, counter = runtime.knowledge.traces.of(state.memory.passages, runtime.store.read), calibrate_counter(state, runtime)
    found = _plan_compaction(state, trace, runtime.settings.template, counter)
    if found is None or not (heard := _ask_hook(runtime, state, found)).go:
        return state
    words = _write_summary(state, runtime, found, trace)
    note = "; ".join(part for part in (alert, words.note, heard.note) if part)
    event = MemoryCompacted(
        state.work.step, found.by, found.gone, words.summary, _count_freed_tokens(state, found), words.reply, note
    )
    return append_events(state, runtime, [*_record_hook_failure(heard, state), event])


def find_context_alert(state: State, policy: CompactionPolicy) -> str:
    """Says so if the last call took more than is allowed before memory must give way."""
    last = state.tokens.last_call
    used = last.tokens + last.reserve
    return f"the last call took {used:,} tokens, the alert is at {policy.context:,}" if 0 < policy.context <= used else ""


def compact_by_rules(state: State, trace: Trace, template: Template, count: CountTokens) -> State:
    """The same by rules alone, without a journal: for runs that others have recorded."""
    found = (
        _plan_compaction(state, trace, template, count)
        if is_memory_full(state.memory.passages, state.task.budget, template.pruning)
        else None
    )
    return (
        apply_event(
            MemoryCompacted(state.work.step, found.by, found.gone, found.summary, _count_freed_tokens(state, found)), state
        )
        if found
        else state
    )


def _plan_compaction(state: State, trace: Trace, template: Template, count: CountTokens) -> MemoryCompactionPlan | None:
    """Pure. Nothing when the loop would win too little by it; the agent's wish is granted in any case."""
    policy, budget = template.pruning, state.task.budget
    texts: dict[Passage, str] = {}
    for entry in trace.entries:
        texts[entry.passage] = texts.get(entry.passage, "") + join_entry_lines([entry], (entry.voice,))
    many = 0 < policy.most_passages <= len(state.memory.passages)
    least = state.memory.keep or many or find_context_alert(state, policy)
    most = policy.left * (min(measure_fullness(state.memory.passages, budget), 1.0) if least else 1.0)
    gone = select_passages_to_drop(
        state.memory.passages,
        state.work.step,
        policy,
        of=lambda one: classify_passage(one.voice, texts.get(one, "")),
        enough=lambda size, number: compute_pool_fullness(size, number, budget) <= most,
    )
    passages = frozenset(state.memory.passages[place] for place in gone)
    due = many or (bool(state.memory.passages) and has_aged(state.memory.passages, policy))
    if not (state.memory.keep or (due and gone)) and measure_fullness(tuple(passages), budget) < MIN_COMPACTION_GAIN_SHARE:
        return None
    summary = summarise_passages(
        replace(state.memory.summary, keep=update_kept_words(state.memory.summary.keep, state.memory.keep)),
        passages,
        trace,
        weights_from_policy(template.weights).names,
        count,
    )
    return MemoryCompactionPlan("agent" if state.memory.keep else "loop", gone, passages, summary)


def _ask_hook(runtime: Runtime, state: State, found: MemoryCompactionPlan) -> HookAnswer:
    """The user's hook, if there is one."""
    if runtime.settings.compaction.hook is None:
        return HookAnswer(True)
    runtime.report_progress(WorkNotice("asking the hook before_compaction"))
    return runtime.settings.compaction.hook.before_compaction(_describe_for_hook(state, found))


def _describe_for_hook(state: State, found: MemoryCompactionPlan) -> Mapping[str, Any]:
    steps = sorted({passage.step for passage in found.passages})
    going = [state.memory.passages[place] for place in found.gone]
    return {
        "task": state.task.id,
        "goal": state.task.goal,
        "step": state.work.step,
        "by": found.by,
        "pool": {"held": count_passage_characters(state.memory.passages), "room": compute_memory_capacity(state.task.budget)},
        "going": {"passages": len(going), "characters": count_passage_characters(going), "steps": steps},
        "summary": found.summary.text,
    }


def _record_hook_failure(heard: HookAnswer, state: State) -> list[Event]:
    """A hook that fails stops nothing. It is written down once, in words that stay the same."""
    text = "the hook before_compaction failed; memory was compacted all the same"
    return [DecisionMade(Decision(text, "harness", step=state.work.step))] if heard.note else []


def _write_summary(state: State, runtime: Runtime, found: MemoryCompactionPlan, trace: Trace) -> WrittenSummary:
    """By rules; by the model where the user has it so and it is needed."""
    upkeep = runtime.settings.compaction
    lines = {line.step for line in found.summary.lines}
    crowded = any(line.step not in lines for line in summarise_steps(found.passages, trace))
    if upkeep.summary is None or not found.passages or not (upkeep.always or crowded):
        return WrittenSummary(found.summary)
    ask = SideCall(
        runtime.gate, upkeep.summary, calibrate_counter(state, runtime), CallPurpose.SUMMARY, state.task, state.work.step
    )
    return summarise_by_model(found.summary, state.memory.summary, found.passages, trace, ask)


def _count_freed_tokens(state: State, found: MemoryCompactionPlan) -> int:
    return count_passage_characters([state.memory.passages[place] for place in found.gone]) // 4
