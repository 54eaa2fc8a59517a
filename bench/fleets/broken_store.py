"""A broken twin of the journal: who has lost a task writes all the same, behind what the new owner has written."""

from collections.abc import Sequence
from typing import Any

from afresh.core.event import JournalEntry
from afresh.core.hash_chain import link_events
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.errors import Conflict
from afresh.fleet.executor_lock import ExecutorLock
from afresh.storage.renew_lease import LeaseRenewal
from afresh.storage.sql.journal import SqlJournal


def write_without_fencing() -> None:
    append = SqlJournal.append

    def append_anyway(self: Any, entries: Sequence[JournalEntry], blocks: Any, state: State) -> None:
        try:
            append(self, entries, blocks, state)
        except Conflict:
            now = self.load(state.task.id)
            linked = link_events(state.task.id, now.head, entries[0].at, [entry.event for entry in entries])
            append(self, linked, blocks, fold_entries(now, linked))

    SqlJournal.append = append_anyway
    LeaseRenewal.check = lambda self: None
    ExecutorLock.check = lambda self: None
