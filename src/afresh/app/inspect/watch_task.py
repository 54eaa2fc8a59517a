"""Follows a task that another process works on: what it commits to the journal, as it comes."""

import time
from collections.abc import Iterator, Sequence
from itertools import groupby

from afresh.app.queue.read_tasks import TaskReader, find_owner, find_task_id
from afresh.core.event import JournalEntry
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.task import TaskStatus, TicketOrder, TicketQuery
from afresh.errors import NotPossible

POLL_SECONDS = 0.25


def find_watched_task(reader: TaskReader, name: str | None) -> str:
    """Find a task by id or prefix; without a name the one that a worker holds, the latest of several."""
    if name is not None:
        return find_task_id(reader.queue, reader.export_folder, name)
    running = reader.queue.tickets(TicketQuery((TaskStatus.RUNNING,), parents=(), order=TicketOrder.TOUCHED))
    if tasks := [ticket.task for ticket in running if ticket.owner]:
        return tasks[0]
    raise NotPossible("no task runs now", next="`afresh status` lists tasks; `afresh show --follow TASK` waits for one")


def follow_commits(reader: TaskReader, state: State) -> Iterator[tuple[State, Sequence[JournalEntry]]]:
    """Yield each commit after this state, until nobody works on the task any more or a person is asked. Only what is new is
    read."""
    journal, seen = reader.journal, -1
    while True:
        # asked before the journal is read: what a worker commits before it leaves is still shown
        resting, before = is_resting(reader, state), state.head
        if (version := reader.database.read_version()) != seen:
            seen = version
            while new := journal.read_new_entries(state.task.id, state.head):
                for _, commit in groupby(new, key=lambda entry: entry.at):
                    entries = tuple(commit)
                    state = fold_entries(state, entries)
                    yield state, entries
        if state.head == before:
            if resting:
                return
            wait_for_commit()


def is_resting(reader: TaskReader, state: State) -> bool:
    """Whether nothing more comes by itself: it is over, asks a person, or its worker is gone. One that is ready is waited for."""
    if state.status is TaskStatus.READY:
        return False
    if state.status is not TaskStatus.RUNNING or state.dialogue.question:
        return True
    return not find_owner(reader.queue, state.task.id)


def wait_for_commit() -> None:
    time.sleep(POLL_SECONDS)
