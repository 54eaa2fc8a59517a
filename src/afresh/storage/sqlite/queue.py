"""The queue: tickets, which every commit of a journal updates, and who claims a task: leases, taken and released here."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from socket import gethostname
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

from afresh.core.codec import to_canonical_json
from afresh.core.task import (
    ALL_TICKETS,
    QueueCounts,
    QueueTicket,
    TaskStatus,
    TicketDetail,
    TicketOrder,
    TicketQuery,
    describe_worker,
)
from afresh.errors import BadInput, LeaseLost, NeedsAnswer, NotPossible
from afresh.storage.sqlite.database import Database

if TYPE_CHECKING:
    from afresh.core.state import State
    from afresh.ports.watch import Clock


TICKET_ROWS_SQL = (
    "SELECT task.number, id, goal, type, status, priority, needs, coalesce(parent, ''), worker, expires,"
    " step, step_limit, updated, question, options, ruling, outcome, follows"
    " FROM task JOIN ticket ON ticket.task = number LEFT JOIN part ON part.task = number LEFT JOIN lease ON lease.task ="
    " iif(parent IS NULL, number, (SELECT whole.number FROM task AS whole WHERE whole.id = parent))"
)
"""Who holds a task holds its parts."""
INSERT_TICKET_SQL = (
    "INSERT INTO ticket (seq, hash, step, step_limit, updated, question, options, ruling, outcome, task, status, follows)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
UPDATE_TICKET_SQL = (
    "UPDATE ticket SET seq = ?, hash = ?, step = ?, step_limit = ?, updated = ?, question = ?, options = ?, ruling = ?,"
    " outcome = ? WHERE task = ?"
)
ORDER_SQL = {
    TicketOrder.QUEUE: "number",
    TicketOrder.NEWEST: "number DESC",
    TicketOrder.TOUCHED: "updated DESC, number DESC",
}
NO_LIMIT = -1
LAST_CHARACTER = "\U0010ffff"


def write_ticket(connection: Connection, number: int, state: "State", before: str) -> None:
    """Write the ticket of a task that had the status `before`; empty: it had none. The status is indexed, and touched only when
    it changes: that saves a page in most commits."""
    from afresh.core.state import make_ticket_detail

    detail = make_ticket_detail(state)
    head = (state.head.seq, bytes.fromhex(state.head.hash))
    texts = (detail.question, to_canonical_json(detail.options), detail.ruling, detail.outcome)
    row = (*head, detail.step, detail.limit, detail.updated, *texts, number)
    if not before:
        connection.execute(INSERT_TICKET_SQL, (*row, state.status.value, detail.follows))
        return
    connection.execute(UPDATE_TICKET_SQL, row)
    if state.work.needs is not None:
        connection.execute("UPDATE task SET needs = ? WHERE number = ?", (to_canonical_json(state.needs), number))
    if state.status.value != before:
        connection.execute("UPDATE ticket SET status = ? WHERE task = ?", (state.status.value, number))


def select_tickets(connection: Connection, which: TicketQuery = ALL_TICKETS) -> list[tuple[Any, ...]]:
    conditions, given = ["true"], list[Any]()
    if which.statuses:
        conditions.append("status IN (SELECT value FROM json_each(?))")
        given.append(json.dumps(which.statuses))
    if which.prefix:
        conditions.append("id >= ? AND id < ?")
        given += [which.prefix, which.prefix + LAST_CHARACTER]
    if which.parents is not None:
        conditions.append("parent IN (SELECT value FROM json_each(?))" if which.parents else "parent IS NULL")
        given += [json.dumps(which.parents)] if which.parents else []
    rows = f"{TICKET_ROWS_SQL} WHERE {' AND '.join(conditions)} ORDER BY {ORDER_SQL[which.order]} LIMIT ?"
    return connection.execute(rows, (*given, which.most or NO_LIMIT)).fetchall()


def detail_from_row(row: tuple[Any, ...]) -> TicketDetail | None:
    """None for a task that was at work when its database learnt to keep details, and has not been touched since."""
    step, limit, updated, question, options, *texts = row
    return None if updated is None else TicketDetail(step, limit, updated, question, tuple(json.loads(options)), *texts)


LEASE_SECONDS = 20.0
RETRIED_STATUSES = (TaskStatus.FAILED, TaskStatus.DISCARDED)
CLAIM_ORDER_SQL = " ORDER BY status = 'running' DESC, priority DESC, number"


class SqliteQueue:
    def __init__(self, database: Database, clock: "Clock", lease_seconds: float = LEASE_SECONDS) -> None:
        self._database, self._clock, self._lease_seconds = database, clock, lease_seconds

    def claim(self, worker: str, task: str | None = None) -> str | None:
        with self._database.writing() as connection:
            chosen = self._named(connection, worker, task) if task else self._next(connection)
            if chosen:
                connection.execute(
                    "INSERT INTO lease (task, worker, expires, token) VALUES (?, ?, ?, 1) ON CONFLICT (task)"
                    " DO UPDATE SET worker = excluded.worker, expires = excluded.expires, token = token + 1",
                    (chosen.number, worker, self._clock.now() + self._lease_seconds),
                )
            return chosen.ticket.task if chosen else None

    def renew(self, worker: str, task: str) -> None:
        with self._database.writing() as connection:
            renewed = connection.execute(
                "UPDATE lease SET expires = ? WHERE worker = ? AND task = (SELECT number FROM task WHERE id = ?)",
                (self._clock.now() + self._lease_seconds, worker, task),
            )
            if renewed.rowcount != 1:
                raise LeaseLost(f"{task} is no longer held by {worker}: another worker has taken it over")

    def release(self, worker: str, task: str) -> None:
        """Give up the lease; nothing happens if another worker has it."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE lease SET worker = '', expires = 0 WHERE worker = ? AND task = (SELECT number FROM task WHERE id = ?)",
                (worker, task),
            )

    def tickets(self, which: TicketQuery = ALL_TICKETS) -> Sequence[QueueTicket]:
        with self._database.reading() as connection:
            rows = select_tickets(connection, which)
            needed = {task for row in rows if row[6] != "[]" for task in json.loads(row[6])}
            statuses = _read_statuses(connection, json.dumps(sorted(needed))) if needed else {}
        return [_ticket_from_row(row, statuses, self._clock.now()).ticket for row in rows]

    def counts(self) -> QueueCounts:
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT status, count(*), sum(coalesce(question, '') != '') FROM ticket"
                " WHERE task NOT IN (SELECT task FROM part) GROUP BY status ORDER BY min(task)"
            ).fetchall()
        return QueueCounts({TaskStatus(status): count for status, count, _ in rows}, sum(asking for _, _, asking in rows))

    def _next(self, connection: Connection) -> "_TicketRow | None":
        """The first task that can be worked on: running ones go before new ones."""
        now = self._clock.now()
        for row in connection.execute(TICKET_ROWS_SQL + " WHERE status IN ('ready', 'running')" + CLAIM_ORDER_SQL):
            line = _ticket_from_row(row, _read_statuses(connection, row[6]), now)
            if line.ticket.ready:
                return line
        return None

    def _named(self, connection: Connection, worker: str, task: str) -> "_TicketRow":
        row = connection.execute(TICKET_ROWS_SQL + " WHERE id = ?", (task,)).fetchone()
        if row is None:
            raise BadInput(f"no such task: {task}", next="`afresh status --all` lists the tasks")
        statuses = _read_statuses(connection, row[6])
        line = _ticket_from_row(row, statuses, self._clock.now())
        if line.ticket.parent or (not line.ticket.ready and line.ticket.owner != worker):
            raise _make_claim_error(line.ticket, statuses)
        return line


@dataclass(frozen=True, slots=True)
class _TicketRow:
    number: int
    ticket: QueueTicket


def _ticket_from_row(row: tuple, statuses: Mapping[str, TaskStatus], now: float) -> _TicketRow:
    number, task, goal, type, status, priority, needs, parent, worker, expires, *details = row
    owner = _find_holder(worker, expires, now) if worker else ""
    status, needs = TaskStatus(status), tuple(json.loads(needs))
    open = status in (TaskStatus.READY, TaskStatus.RUNNING) and not owner and not parent
    ready = open and not _list_unmet_needs(needs, statuses)
    detail = detail_from_row(tuple(details))
    return _TicketRow(number, QueueTicket(task, goal, type, status, priority, needs, ready, owner, parent, detail))


def _find_holder(worker: str, expires: float, now: float) -> str:
    from afresh.storage.renew_lease import find_lease_holder  # reading a queue that nobody works on needs no sockets and threads

    return find_lease_holder(worker, expires, now)


def _read_statuses(connection: Connection, needs: str) -> dict[str, TaskStatus]:
    """The status of each task in this JSON list."""
    rows = connection.execute(
        "SELECT id, status FROM task JOIN ticket ON task = number WHERE id IN (SELECT value FROM json_each(?))", (needs,)
    )
    return {task: TaskStatus(status) for task, status in rows}


def _list_unmet_needs(needs: Sequence[str], statuses: Mapping[str, TaskStatus]) -> list[str]:
    return [task for task in needs if task not in statuses or not statuses[task].satisfies]


def _make_claim_error(ticket: QueueTicket, statuses: Mapping[str, TaskStatus]) -> BadInput:
    if ticket.parent:
        return BadInput(
            f"{ticket.task} is a subtask of {ticket.parent} and runs with it",
            next=f"afresh resume {ticket.parent}",
            safe="nothing was changed",
        )
    if ticket.owner:
        return NotPossible(
            f"{ticket.task} is being worked on by {describe_worker(ticket.owner, gethostname())}",
            next="wait for it, or stop that process and try again",
            safe="nothing was changed",
        )
    if ticket.status.over:
        again = f"`afresh retry {ticket.task}` tries it again; " if ticket.status in RETRIED_STATUSES else ""
        return NotPossible(
            f"{ticket.task} is finished: {ticket.status}", next=f"{again}`afresh show {ticket.task}` shows how it ended"
        )
    if ticket.status is TaskStatus.BLOCKED:
        return NeedsAnswer(
            f"{ticket.task} is blocked: its question is still open",
            next=f"`afresh inbox` shows it; `afresh answer {ticket.task}` answers it",
        )
    unmet = _list_unmet_needs(ticket.needs, statuses)
    waiting = [f"{task} ({statuses.get(task, 'not there')})" for task in unmet]
    ended = next((task for task in unmet if statuses.get(task) in RETRIED_STATUSES), "")
    advice = (
        f"`afresh retry {ended}` tries that again; `afresh skip {ticket.task}` goes on without it; "
        f"`afresh discard {ticket.task}` cancels this one"
        if ended
        else "finish those first: `afresh work` runs them in order"
    )
    return NeedsAnswer(f"{ticket.task} is waiting for {', '.join(waiting)}", next=advice, safe="nothing was changed")
