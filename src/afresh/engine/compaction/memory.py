"""Memory between two steps: when it is nearly full, or the agent asks for it, old passages give way to a summary."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from afresh.domain.event import Compacted, Decided, Event
from afresh.domain.fact import Decision
from afresh.domain.fold import apply
from afresh.domain.outcome import Heard
from afresh.domain.passage import Passage, fullness
from afresh.domain.spend import Kind
from afresh.domain.state import State
from afresh.domain.summary import Summary
from afresh.domain.template import Template
from afresh.domain.trace import Trace
from afresh.engine.agent import Agent
from afresh.engine.calibrate import counter_for
from afresh.engine.compaction.classes import kind
from afresh.engine.compaction.prune import WORTH_WHILE, full, going, held, pool, taken
from afresh.engine.compaction.rules import Count, keeping, summarised, text, told
from afresh.engine.compaction.written import Ask, Written, written
from afresh.engine.record import doing, record
from afresh.engine.worth import weights


@dataclass(frozen=True, slots=True)
class Turnout:
    """What would go, and what would be left of it in words."""

    by: str
    gone: tuple[int, ...]
    passages: frozenset[Passage]
    summary: Summary


def compacted(state: State, agent: Agent) -> State:
    """One commit, if memory is nearly full or the agent has asked for it and the user's hook lets it be."""
    if not (state.keep or full(state.passages, state.budget, agent.template.pruning)):
        return state
    trace, counter = agent.recollection.of(state.passages, agent.store.read), counter_for(state, agent)
    found = turnout(state, trace, agent.template, counter)
    if found is None or not (heard := asked(agent, state, found)).go:
        return state
    words = in_words(state, agent, found, trace)
    note = "; ".join(part for part in (words.note, heard.note) if part)
    event = Compacted(state.step, found.by, found.gone, words.summary, won(state, found), words.reply, note)
    return record(state, agent, [*failing(heard, state), event])


def tidied(state: State, trace: Trace, template: Template, count: Count) -> State:
    """The same by rules alone, without a journal: for runs that others have recorded."""
    found = turnout(state, trace, template, count) if full(state.passages, state.budget, template.pruning) else None
    return apply(Compacted(state.step, found.by, found.gone, found.summary, won(state, found)), state) if found else state


def turnout(state: State, trace: Trace, template: Template, count: Count) -> Turnout | None:
    """Pure. Nothing when the loop would win too little by it; the agent's wish is granted in any case."""
    policy, budget = template.pruning, state.budget
    texts: dict[Passage, str] = {}
    for entry in trace.entries:
        texts[entry.passage] = texts.get(entry.passage, "") + text([entry], (entry.voice,))
    most = policy.left * (min(taken(state.passages, budget), 1.0) if state.keep else 1.0)
    gone = going(
        state.passages, state.step, policy,
        of=lambda one: kind(one.voice, texts.get(one, "")), enough=lambda size, number: fullness(size, number, budget) <= most,
    )  # fmt: skip
    passages = frozenset(state.passages[place] for place in gone)
    if not state.keep and taken(tuple(passages), budget) < WORTH_WHILE:
        return None
    summary = summarised(keeping(state.summary, state.keep, count), passages, trace, weights(template.weights).names, count)
    return Turnout("agent" if state.keep else "loop", gone, passages, summary)


def asked(agent: Agent, state: State, found: Turnout) -> Heard:
    """The user's hook, if there is one."""
    if agent.upkeep.hook is None:
        return Heard(True)
    doing(agent, "asking the hook before_compaction")
    return agent.upkeep.hook.before_compaction(about(state, found))


def about(state: State, found: Turnout) -> Mapping[str, Any]:
    steps = sorted({passage.step for passage in found.passages})
    going = [state.passages[place] for place in found.gone]
    return {
        "task": state.task.id,
        "goal": state.task.goal,
        "step": state.step,
        "by": found.by,
        "pool": {"held": held(state.passages), "room": pool(state.budget)},
        "going": {"passages": len(going), "characters": held(going), "steps": steps},
        "summary": found.summary.text,
    }


def failing(heard: Heard, state: State) -> list[Event]:
    """A hook that fails stops nothing. It is written down once, in words that stay the same."""
    text = "the hook before_compaction failed; memory was compacted all the same"
    return [Decided(Decision(text, "harness", step=state.step))] if heard.note else []


def in_words(state: State, agent: Agent, found: Turnout, trace: Trace) -> Written:
    """By rules; by the model where the user has it so and it is needed."""
    upkeep = agent.upkeep
    lines = {line.step for line in found.summary.lines}
    crowded = any(line.step not in lines for line in told(found.passages, trace))
    if upkeep.summary is None or not found.passages or not (upkeep.always or crowded):
        return Written(found.summary)
    doing(agent, f"waiting for {agent.model.name} to sum up older steps")
    ask = Ask(agent.till, upkeep.summary, counter_for(state, agent), Kind.SUMMARY, state.task, state.step)
    return written(found.summary, state.summary, found.passages, trace, ask)


def won(state: State, found: Turnout) -> int:
    return held([state.passages[place] for place in found.gone]) // 4
