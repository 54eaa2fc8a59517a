"""The one way into the journal: link, fold, commit, tell the watchers."""

from collections.abc import Sequence

from afresh.core.archived_block import Block
from afresh.core.event import Event
from afresh.core.hash_chain import link_events
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.runtime import Runtime


def append_events(state: State, runtime: Runtime, events: Sequence[Event], blocks: Sequence[Block] = ()) -> State:
    """Append events in one durable commit."""
    entries = link_events(state.task.id, state.head, runtime.clock.now(), events)
    after = fold_entries(state, entries)
    runtime.store.append(entries, blocks, after)
    for watcher in runtime.control.watchers:
        watcher.saw(after, entries)
    return after
