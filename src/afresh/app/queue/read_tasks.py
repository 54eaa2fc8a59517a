"""Reads tasks without loading settings, templates, models or code analysis."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from afresh.core.task import QueueTicket, TaskStatus, TicketOrder, TicketQuery, name_briefly
from afresh.core.truncate import join_first
from afresh.errors import BadInput
from afresh.storage.choose_storage import choose_lease_clock, find_store_address, open_journal_database
from afresh.storage.sql.queue import SqlQueue
from afresh.storage.sql.schema import LEDGER_FILE_NAME
from afresh.workspace.repository import Repository

if TYPE_CHECKING:
    from afresh.core.state import State
    from afresh.ports.storage import TaskQueue
    from afresh.storage.sql.database import SqlDatabase
    from afresh.storage.sql.journal import SqlJournal


class SystemClock:
    def now(self) -> float:
        return round(time.time(), 3)


def find_user_folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("afresh")


def has_user_ledger() -> bool:
    """Return whether the ledger exists, without creating it."""
    return bool(find_store_address()) or (find_user_folder() / LEDGER_FILE_NAME).exists()


NEWEST_RECORDS = 8
"""Of a task that is listed: the last four steps, more or less. `show` and `apply` check all."""
MAX_CHECKED_TASKS = 65
"""As many as the page of `status` lists."""


@dataclass(frozen=True, slots=True)
class TaskReader:
    root: Path
    database: "SqlDatabase"
    queue: SqlQueue
    clock: SystemClock

    @property
    def export_folder(self) -> Path:
        return self.root / ".afresh" / "export"

    def load(self, task: str) -> "State":
        """The state of a task whose every entry matches its hash."""
        journal = self.journal
        journal.check(task)
        return journal.load(task)

    def find_damage(self, tasks: Sequence[str]) -> Mapping[str, str]:
        """What is damaged in the newest records of these tasks, in time that does not grow with their steps."""
        from afresh.storage.sql.check_records import find_record_damage

        with self.database.reading() as connection:
            return find_record_damage(connection, tasks[:MAX_CHECKED_TASKS], NEWEST_RECORDS)

    @property
    def journal(self) -> "SqlJournal":
        from afresh.storage.sql.journal import SqlJournal

        return SqlJournal(self.database)


def open_task_reader(path: Path) -> TaskReader:
    """Open the task list of the project around `path`; writes nothing to it."""
    repository = Repository.find(path)
    clock, database = SystemClock(), open_journal_database(repository.root)
    return TaskReader(repository.root, database, SqlQueue(database, choose_lease_clock(database, clock)), clock)


MAX_CANDIDATES = 5


def find_task_id(
    queue: "TaskQueue", export_folder: Path, name: str | None, wanted: Callable[[QueueTicket], object] | None = None
) -> str:
    """Find a task by its id, the beginning of its id or its hash, or any part of its id. Without a name return the one that was
    changed last, of those that fit if any does."""
    if name is None:
        latest = queue.tickets(TicketQuery(parents=(), order=TicketOrder.TOUCHED, most=MAX_NEXT_READ if wanted else 1))
        if not latest:
            raise make_no_task_error(queue, export_folder)
        return next((ticket.task for ticket in latest if wanted and wanted(ticket)), latest[0].task)
    found = [ticket for ticket in queue.tickets(TicketQuery(part=name)) if name.lower() in ticket.task.lower()] if name else []
    exact = [ticket for ticket in found if ticket.task == name]
    begins = [ticket for ticket in found if ticket.task.startswith(name) or name_briefly(ticket.task).startswith(name)]
    named = exact or begins or found  # subtasks, whose ids begin with their parent's, only if nothing else fits
    fits = [ticket.task for ticket in named if not ticket.parent] or [ticket.task for ticket in named]
    if len(fits) == 1:
        return fits[0]
    if fits:
        what = f"{name!r} matches {len(fits):,} tasks: {join_first(fits, MAX_CANDIDATES)}"
        raise BadInput(what, next=f"type more of it, or the hash at its end: {name_briefly(fits[0])}")
    if not queue.tickets(TicketQuery(most=1)):
        raise make_no_task_error(queue, export_folder, f"no such task: {name}")
    raise BadInput(f"no such task: {name}", next="afresh status --all lists the tasks")


def make_no_task_error(queue: "TaskQueue", export_folder: Path, what: str = "") -> BadInput:
    """The error of a command that needs a task where there is none."""
    from afresh.app.stored_state.lost_state import explain_empty_store

    empty = explain_empty_store(queue, export_folder)
    if empty and (empty.lost or not what):
        what = empty.what
    return BadInput(what, next=(empty.next if empty else "") or 'start one: afresh run "GOAL"')


def find_ticket(queue: "TaskQueue", task: str) -> QueueTicket | None:
    """Return the ticket of this task."""
    return next((ticket for ticket in queue.tickets(TicketQuery(prefix=task)) if ticket.task == task), None) if task else None


def find_owner(queue: "TaskQueue", task: str) -> str:
    """Return the worker that holds a task; empty if none does."""
    ticket = find_ticket(queue, task)
    return ticket.owner if ticket else ""


MAX_NEXT_READ = 200
"""Tickets of a status that are read to find the next one: more than there are workers at once."""


def find_next_ticket(queue: "TaskQueue") -> QueueTicket | None:
    """Return the task that a worker would claim next, without claiming it."""
    for status in (TaskStatus.RUNNING, TaskStatus.READY):
        found = queue.tickets(TicketQuery((status,), parents=(), order=TicketOrder.TURN, most=MAX_NEXT_READ))
        if ready := next((ticket for ticket in found if ticket.ready), None):
            return ready
    return None
