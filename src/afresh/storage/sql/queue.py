"""The queue: tickets, which every commit of a journal updates, and who claims a task: leases, taken and released here."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from socket import gethostname
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
    UnmetNeed,
    describe_worker,
)
from afresh.errors import BadInput, LeaseLost, NeedsAnswer, NotPossible
from afresh.storage.sql.database import SqlConnection, SqlDatabase, repeat_if_lost

if TYPE_CHECKING:
    from afresh.core.state import State
    from afresh.ports.watch import Clock


TICKET_ROWS_SQL = (
    "SELECT task.number, id, goal, type, status, task.priority, needs, coalesce(parent, ''), worker, expires,"
    " step, step_limit, updated, question, options, ruling, outcome, follows"
    " FROM task JOIN ticket ON ticket.task = number LEFT JOIN part ON part.task = number LEFT JOIN lease ON lease.task ="
    " CASE WHEN parent IS NULL THEN number ELSE (SELECT whole.number FROM task AS whole WHERE whole.id = parent) END"
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
UPDATE_PLACE_SQL = "UPDATE task SET priority = ?, needs = ? WHERE number = ? AND (priority <> ? OR needs <> ?)"
ORDER_SQL = {
    TicketOrder.QUEUE: "ticket.task",
    TicketOrder.NEWEST: "ticket.task DESC",
    TicketOrder.TOUCHED: "updated DESC, ticket.task DESC",
    TicketOrder.TURN: "turn, ticket.priority DESC, ticket.task",
}
BY_NUMBER = (TicketOrder.QUEUE, TicketOrder.NEWEST)
"""The other orders are indexed for each status."""
NO_LIMIT = 1 << 62
LAST_CHARACTER = "\U0010ffff"


def write_ticket(connection: SqlConnection, number: int, state: "State", before: str) -> None:
    """Write the ticket of a task that had the status `before`; empty: it had none. The status is indexed, and touched only when
    it changes: that saves a page in most commits."""
    from afresh.core.state import make_ticket_detail

    detail = make_ticket_detail(state)
    head = (state.head.seq, bytes.fromhex(state.head.hash))
    texts = (detail.question, to_canonical_json(detail.options), detail.ruling, detail.outcome)
    row = (*head, detail.step, detail.limit, detail.updated, *texts, number)
    if place := state.work.place:
        wanted = (place.priority, to_canonical_json(place.needs))
        connection.execute(UPDATE_PLACE_SQL, (*wanted, number, *wanted))
    if not before:
        connection.execute(INSERT_TICKET_SQL, (*row, state.status.value, detail.follows))
        return
    connection.execute(UPDATE_TICKET_SQL, row)
    if state.status.value != before:
        connection.execute("UPDATE ticket SET status = ? WHERE task = ?", (state.status.value, number))


def select_tickets(connection: SqlConnection, which: TicketQuery = ALL_TICKETS) -> list[tuple[Any, ...]]:
    conditions, given, order, most = ["true"], list[Any](), ORDER_SQL[which.order], which.most or NO_LIMIT
    statuses = which.statuses or (() if which.order in BY_NUMBER else tuple(TaskStatus))
    if statuses and not which.prefix and not which.parents:
        own = "" if which.parents is None else " AND +turn < 2"
        one = f"SELECT task FROM (SELECT task FROM ticket WHERE status = ?{own} ORDER BY {order} LIMIT ?) AS first"
        conditions.append(f"number IN ({' UNION ALL '.join([one] * len(statuses))})")
        given += [value for status in statuses for value in (status.value, most)]
    elif which.statuses:
        conditions.append("status IN (SELECT value FROM json_each(?))")
        given.append(json.dumps(which.statuses))
    if which.prefix:
        conditions.append("id >= ? AND id < ?")
        given += [which.prefix, which.prefix + LAST_CHARACTER]
        order = "+" + order
    if which.parents is not None:
        parts = "number IN (SELECT task FROM part WHERE parent IN (SELECT value FROM json_each(?)))"
        conditions.append(parts if which.parents else "parent IS NULL")
        given += [json.dumps(which.parents)] if which.parents else []
    rows = f"{TICKET_ROWS_SQL} WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT ?"
    return connection.execute(rows, (*given, most)).fetchall()


def detail_from_row(row: tuple[Any, ...]) -> TicketDetail | None:
    """None for a task that was at work when its database learnt to keep details, and has not been touched since."""
    step, limit, updated, question, options, *texts = row
    return None if updated is None else TicketDetail(step, limit, updated, question, tuple(json.loads(options)), *texts)


LEASE_SECONDS = 20.0
RETRIED_STATUSES = (TaskStatus.FAILED, TaskStatus.DISCARDED)
TURNS_SQL = (
    "SELECT ticket.task, coalesce(worker, ''), coalesce(expires, 0) FROM ticket LEFT JOIN lease ON lease.task = ticket.task"
    " WHERE status = ? AND turn = 0 ORDER BY ticket.priority DESC, ticket.task LIMIT ? OFFSET ?"
)
TURNS_PER_READ = 64


class SqlQueue:
    def __init__(self, database: SqlDatabase, clock: "Clock", lease_seconds: float = LEASE_SECONDS) -> None:
        self._database, self._clock, self._lease_seconds = database, clock, lease_seconds

    @repeat_if_lost
    def claim(self, worker: str, task: str | None = None) -> str | None:
        with self._database.writing() as connection:
            chosen = self._named(connection, worker, task) if task else self._next(connection)
            if chosen:
                connection.execute(
                    "INSERT INTO lease (task, worker, expires, token) VALUES (?, ?, ?, 1) ON CONFLICT (task)"
                    " DO UPDATE SET worker = excluded.worker, expires = excluded.expires, token = lease.token + 1",
                    (chosen.number, worker, self._clock.now() + self._lease_seconds),
                )
            return chosen.ticket.task if chosen else None

    @repeat_if_lost
    def renew(self, worker: str, task: str) -> None:
        with self._database.writing() as connection:
            renewed = connection.execute(
                "UPDATE lease SET expires = ? WHERE worker = ? AND task = (SELECT number FROM task WHERE id = ?)",
                (self._clock.now() + self._lease_seconds, worker, task),
            )
            if renewed.rowcount != 1:
                raise LeaseLost(f"{task} is no longer held by {worker}: another worker has taken it over")

    @repeat_if_lost
    def release(self, worker: str, task: str) -> None:
        """Give up the lease; nothing happens if another worker has it."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE lease SET worker = '', expires = 0 WHERE worker = ? AND task = (SELECT number FROM task WHERE id = ?)",
                (worker, task),
            )

    @repeat_if_lost
    def tickets(self, which: TicketQuery = ALL_TICKETS) -> Sequence[QueueTicket]:
        with self._database.reading() as connection:
            rows = select_tickets(connection, which)
            needed = {task for row in rows if row[6] != "[]" for task in json.loads(row[6])}
            statuses = _read_statuses(connection, json.dumps(sorted(needed))) if needed else {}
        return [_ticket_from_row(row, statuses, self._clock.now()).ticket for row in rows]

    @repeat_if_lost
    def counts(self) -> QueueCounts:
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT status, tasks FROM ticket_count WHERE tasks > 0 ORDER BY (SELECT task FROM ticket"
                " WHERE ticket.status = ticket_count.status AND +turn < 2 ORDER BY task LIMIT 1)"
            ).fetchall()
            asking = "SELECT count(*) FROM ticket WHERE question != '' AND turn < 2"
            (questions,) = connection.execute(asking).fetchone()
        return QueueCounts({TaskStatus(status): count for status, count in rows}, questions)

    def _next(self, connection: SqlConnection) -> "_TicketRow | None":
        """The first task that can be worked on: running ones go before new ones. Reads no more rows than there are owners."""
        now, held = self._clock.now(), {("", False): False}
        for status in (TaskStatus.RUNNING, TaskStatus.READY):
            for number, worker, expires in _read_turns(connection, status):
                lease = worker, bool(worker) and expires > now
                if lease not in held:
                    held[lease] = bool(_find_holder(worker, expires, now))
                if not held[lease]:
                    row = connection.execute(TICKET_ROWS_SQL + " WHERE number = ?", (number,)).fetchone()
                    return _ticket_from_row(row, _read_statuses(connection, row[6]), now)
        return None

    def _named(self, connection: SqlConnection, worker: str, task: str) -> "_TicketRow":
        row = connection.execute(TICKET_ROWS_SQL + " WHERE id = ?", (task,)).fetchone()
        if row is None:
            raise BadInput(f"no such task: {task}", next="`afresh status --all` lists the tasks")
        line = _ticket_from_row(row, _read_statuses(connection, row[6]), self._clock.now())
        if line.ticket.parent or (not line.ticket.ready and line.ticket.owner != worker):
            raise _make_claim_error(line.ticket)
        return line


def _read_turns(connection: SqlConnection, status: TaskStatus) -> Iterator[tuple[int, str, float]]:
    """Tasks of this status that can be claimed unless somebody works on them, in the order in which they are."""
    for start in count(step=TURNS_PER_READ):
        page = 0
        for row in connection.execute(TURNS_SQL, (status.value, TURNS_PER_READ, start)):
            page += 1
            yield row
        if page < TURNS_PER_READ:
            return


@dataclass(frozen=True, slots=True)
class _TicketRow:
    number: int
    ticket: QueueTicket


def _ticket_from_row(row: tuple, statuses: Mapping[str, TaskStatus], now: float) -> _TicketRow:
    number, task, goal, type, status, priority, needs, parent, worker, expires, *details = row
    owner = _find_holder(worker, expires, now) if worker else ""
    status, needs = TaskStatus(status), tuple(json.loads(needs))
    open = status in (TaskStatus.READY, TaskStatus.RUNNING) and not owner and not parent
    unmet = _list_unmet_needs(needs, statuses)
    detail = detail_from_row(tuple(details))
    return _TicketRow(
        number, QueueTicket(task, goal, type, status, priority, needs, open and not unmet, owner, parent, detail, unmet)
    )


def _find_holder(worker: str, expires: float, now: float) -> str:
    from afresh.storage.renew_lease import find_lease_holder  # reading a queue that nobody works on needs no sockets and threads

    return find_lease_holder(worker, expires, now)


def _read_statuses(connection: SqlConnection, needs: str) -> dict[str, TaskStatus]:
    """The status of each task in this JSON list."""
    rows = connection.execute(
        "SELECT id, status FROM task JOIN ticket ON task = number WHERE id IN (SELECT value FROM json_each(?))", (needs,)
    )
    return {task: TaskStatus(status) for task, status in rows}


def _list_unmet_needs(needs: Sequence[str], statuses: Mapping[str, TaskStatus]) -> tuple[UnmetNeed, ...]:
    found = (UnmetNeed(task, statuses.get(task)) for task in needs)
    return tuple(need for need in found if not (need.status and need.status.satisfies))


def _make_claim_error(ticket: QueueTicket) -> BadInput:
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
    waiting = [f"{need.task} ({need.status or 'not there'})" for need in ticket.unmet]
    ended = next((need.task for need in ticket.unmet if need.status in RETRIED_STATUSES), "")
    advice = (
        f"`afresh retry {ended}` tries that again; `afresh skip {ticket.task}` goes on without it; "
        f"`afresh discard {ticket.task}` cancels this one"
        if ended
        else "finish those first: `afresh work` runs them in order"
    )
    return NeedsAnswer(f"{ticket.task} is waiting for {', '.join(waiting)}", next=advice, safe="nothing was changed")
