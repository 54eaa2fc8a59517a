"""The one way into the journal: link, fold, commit, tell the watchers."""

from collections.abc import Sequence

from afresh.domain.chain import block_id, link
from afresh.domain.event import Event
from afresh.domain.fact import Block
from afresh.domain.fold import fold
from afresh.domain.state import State
from afresh.engine.agent import Agent


def record(state: State, agent: Agent, events: Sequence[Event], blocks: Sequence[Block] = ()) -> State:
    """One durable commit."""
    entries = link(state.task.id, state.head, agent.clock.now(), events)
    after = fold(state, entries)
    agent.store.append(entries, blocks, after)
    for watcher in agent.watchers:
        watcher.saw(after, entries)
    return after


def doing(agent: Agent, what: str) -> None:
    for watcher in agent.watchers:
        watcher.doing(what)


def block(text: str) -> Block:
    return Block(block_id(text), text)
