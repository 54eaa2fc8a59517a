"""What a call was, so that it can be shown, explained, and built again to the byte."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from afresh.domain.codec import dumps, loads
from afresh.domain.event import Requested
from afresh.domain.fact import Block, Look
from afresh.domain.fold import fold
from afresh.domain.memory import Memory, Recollection, gathered
from afresh.domain.state import State
from afresh.domain.template import Template
from afresh.domain.window import Audit, LookRef, SectionRef, ToolSchema, Window
from afresh.engine.agent import Agent
from afresh.engine.build import build, offered
from afresh.engine.record import block
from afresh.engine.strategy import directed
from afresh.engine.tokens import Counter, raw
from afresh.ports import Store


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """One recorded call, built again from the journal."""

    step: int
    recorded: str
    hash: str

    @property
    def same(self) -> bool:
        return self.recorded == self.hash


def audit(window: Window, memory: Memory, agent: Agent) -> tuple[Audit, tuple[Block, ...]]:
    """The record of a call, and the blocks it points to. Unchanged sections and looks are stored already and cost nothing."""
    looks = (*memory.looks, *policy(memory.state, agent))
    texts = [block(section.text) for section in window.sections], [block(look.text) for look in looks]
    call = Audit(
        hash=window.request.hash,
        budget=window.budget,
        tokens=window.tokens,
        sections=tuple(SectionRef(s.name, s.tier, b.id, s.tokens) for s, b in zip(window.sections, texts[0], strict=True)),
        looks=tuple(LookRef(look.kind, look.subject, b.id) for look, b in zip(looks, texts[1], strict=True)),
        omissions=window.omissions,
        reserve=window.request.reserve,
        counter=dumps(agent.counter),
        model=agent.model.name,
        pieces=raw(window.request),
        framing=agent.counter.around(window.request),
        unmet=window.unmet,
        compactions=window.compactions,
        thinking=window.request.thinking,
    )
    return call, (*texts[0], *texts[1])


def policy(state: State, agent: Agent) -> tuple[Look, ...]:
    """Template and tools are input of the builder too, so they are recorded like the rest."""
    tools = offered(directed(state, agent.template), agent.tools)
    return Look("template", agent.template.type, dumps(agent.template)), Look("tools", "", dumps(tools))


def rebuild(state: State, call: Audit, store: Store, past: Recollection) -> Window:
    """The window of a recorded call, from the state before it and what was looked at."""
    looks = tuple(Look(ref.kind, ref.subject, store.read(ref.block)) for ref in call.looks)
    seen = tuple(look for look in looks if look.kind not in ("template", "tools"))
    memory = gathered(state, seen, store.read, past)
    template = loads(Template, next(look.text for look in looks if look.kind == "template"))
    tools = schemas(next(look.text for look in looks if look.kind == "tools"))
    return build(memory, template, tools, call.budget, loads(Counter, call.counter))


def schemas(text: str) -> tuple[ToolSchema, ...]:
    return tuple(ToolSchema(**schema) for schema in json.loads(text))


def rebuild_all(task: str, store: Store) -> Iterator[Rebuilt]:
    """Every call of a task, built again."""
    state: State | None = None
    past = Recollection()
    for entry in store.journal(task):
        if isinstance(entry.event, Requested) and state:
            again = rebuild(state, entry.event.audit, store, past)
            yield Rebuilt(entry.event.step, entry.event.audit.hash, again.request.hash)
        state = fold(state, [entry])
