"""What a call was, so that it can be shown, explained, and built again to the byte."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from afresh.domain.codec import dumps, loads
from afresh.domain.event import Requested
from afresh.domain.fact import Block, Look
from afresh.domain.fold import fold
from afresh.domain.memory import Memory, Recollection, gathered
from afresh.domain.prefix import moves
from afresh.domain.state import State
from afresh.domain.template import Template
from afresh.domain.window import Audit, LookRef, Section, SectionRef, ToolSchema, Window
from afresh.engine.agent import Agent
from afresh.engine.build import BETWEEN, build, joined, offered
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
    sections, texts = kept(window.sections)
    seen = [block(look.text) for look in looks]
    call = Audit(
        hash=window.request.hash,
        budget=window.budget,
        tokens=window.tokens,
        sections=sections,
        looks=tuple(LookRef(look.kind, look.subject, b.id) for look, b in zip(looks, seen, strict=True)),
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
    return call, (*texts, *seen)


def kept(sections: Sequence[Section]) -> tuple[tuple[SectionRef, ...], list[Block]]:
    """What stands before the last break has a block of its own. What follows is new in most steps and goes into one: the archive
    enters a block by its hash, at a place that no other of the step is near to, and that costs a page of the disk each."""
    moving = [section for section in sections if moves(section.name)]
    together = block(joined(moving))
    starts = accumulate([len(section.text) + len(BETWEEN) for section in moving], initial=0)
    refs, own = list[SectionRef](), list[Block]()
    for one in sections:
        if moves(one.name):
            refs.append(SectionRef(one.name, one.tier, together.id, one.tokens, next(starts), len(one.text)))
        else:
            own.append(block(one.text))
            refs.append(SectionRef(one.name, one.tier, own[-1].id, one.tokens))
    return tuple(refs), [*own, together]


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
