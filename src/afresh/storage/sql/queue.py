"""The queue: tickets, which every commit of a journal updates, and who claims a task: leases, taken and released here."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from afresh.core.codec import to_canonical_json, value_from_json
from afresh.core.states.queue_state import NO_MARKS, StopRequest, TicketMarks, WorkFigures
from afresh.core.task import (
    ALL_TICKETS,
    QueueCounts,
    QueueTicket,
    TaskStatus,
    TicketDetail,
    TicketOrder,
    TicketQuery,
    UnmetNeed,
)
from afresh.errors import BadInput, LeaseLost
from afresh.storage.sql.claim_errors import make_claim_error
from afresh.storage.sql.database import SqlConnection, SqlDatabase, repeat_if_lost

if TYPE_CHECKING:
    from afresh.core.state import State
    from afresh.ports.watch import Clock


FINISHED_SQL = "status IN ('done', 'unchanged', 'applied')"
TICKET_ROWS_SQL = (
    "SELECT task.number, id, goal, type, status, priority, needs, coalesce(parent, ''), worker, expires,"
    " marks, step, step_limit, updated, question, options, ruling, outcome, follows"
    " FROM task JOIN ticket ON ticket.task = number LEFT JOIN part ON part.task = number LEFT JOIN lease ON lease.task ="
    " CASE WHEN parent IS NULL THEN number ELSE (SELECT whole.number FROM task AS whole WHERE whole.id = parent) END"
)
"""The owner of a task owns its subtasks."""
INSERT_TICKET_SQL = (
    "INSERT INTO ticket (seq, hash, step, step_limit, updated, question, options, ruling, outcome, task, status, follows,"
    " priority, needs, change) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
    " (SELECT coalesce(max(change), 0) + 1 FROM ticket))"
)
UPDATE_TICKET_SQL = (
    "UPDATE ticket SET seq = ?, hash = ?, step = ?, step_limit = ?, updated = ?, question = ?, options = ?, ruling = ?,"
    " outcome = ?, change = (SELECT max(change) + 1 FROM ticket) WHERE task = ?"
)
UPDATE_PLACE_SQL = "UPDATE ticket SET priority = ?, needs = ? WHERE task = ? AND (priority <> ? OR needs <> ?)"
UPDATE_MARKS_SQL = (
    "UPDATE ticket SET marks = ?, contexts = ?, resumes = ?, resumed = ?, held = ?, retry_at = ?, due = ?, project = ?"
    " WHERE task = ? AND (marks <> ? OR contexts <> ? OR resumes <> ? OR resumed <> ?)"
)
TURN_SQL = (
    "UPDATE ticket SET turn = CASE WHEN EXISTS (SELECT 1 FROM part WHERE part.task = ticket.task) THEN 2"
    " WHEN held = 1 OR retry_at > 0 OR EXISTS (SELECT 1 FROM need WHERE need.task = ticket.task AND NOT EXISTS"
    " (SELECT 1 FROM task AS other JOIN ticket AS theirs ON theirs.task = other.number"
    f" WHERE other.id = needed AND theirs.{FINISHED_SQL})) THEN 1 ELSE 0 END"
)
"""0: it can be claimed; 1: it is held back, or waits for other tasks or another attempt; 2: it is a part of another. Whoever
changes what it follows from writes it again."""
DEPENDENTS_SQL = "task IN (SELECT need.task FROM need WHERE needed = ?)"
WAKE_SQL = "UPDATE ticket SET retry_at = 0 WHERE retry_at > 0 AND retry_at <= ? RETURNING task"
WAITING_SQL = "SELECT count(*) FROM ticket WHERE status IN ('ready', 'running') AND turn = 1"
COUNTS_SQL = "SELECT status, count(*) FROM ticket WHERE turn < 2 GROUP BY status ORDER BY min(task)"
FIGURES_SQL = (
    f"SELECT count(CASE WHEN {FINISHED_SQL} THEN 1 END), count(CASE WHEN {FINISHED_SQL} AND contexts < 2 THEN 1 END),"
    " coalesce(sum(resumes), 0), coalesce(sum(resumed), 0) FROM ticket WHERE contexts > 0 AND turn < 2 AND updated >= ?"
)
ORDER_SQL = {
    TicketOrder.QUEUE: "ticket.task",
    TicketOrder.NEWEST: "ticket.task DESC",
    TicketOrder.TOUCHED: "updated DESC, ticket.task DESC",
    TicketOrder.DUE: "due = 0, due, ticket.task",
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

    detail, status, place = make_ticket_detail(state), state.status, state.work.place or state.task
    head = (state.head.seq, bytes.fromhex(state.head.hash))
    texts = (detail.question, to_canonical_json(detail.options), detail.ruling, detail.outcome)
    row = (*head, detail.step, detail.limit, detail.updated, *texts, number)
    wanted = (place.priority, to_canonical_json(place.needs))
    if not before:
        connection.execute(INSERT_TICKET_SQL, (*row, status.value, detail.follows, *wanted))
    else:
        connection.execute(UPDATE_TICKET_SQL, row)
        if status.value != before:
            connection.execute("UPDATE ticket SET status = ? WHERE task = ?", (status.value, number))
    moved = not before or connection.execute(UPDATE_PLACE_SQL, (*wanted, number, *wanted)).rowcount
    if moved:
        connection.execute("DELETE FROM need WHERE task = ?", (number,))
        needs = [(number, needed) for needed in dict.fromkeys(place.needs)]
        connection.executemany("INSERT INTO need (task, needed) VALUES (?, ?)", needs)
    if write_marks(connection, number, state) or moved:
        connection.execute(f"{TURN_SQL} WHERE task = ?", (number,))
    if status.satisfies != bool(before and TaskStatus(before).satisfies):
        connection.execute(f"{TURN_SQL} WHERE {DEPENDENTS_SQL}", (state.task.id,))


def write_marks(connection: SqlConnection, number: int, state: "State") -> bool:
    """Write what a ticket shows of labels, holds and failures; whether it has changed. What a person asked of the worker is done
    when the task is held back or over."""
    from afresh.core.state import make_ticket_marks

    marks, attempts = make_ticket_marks(state), state.times.attempts
    text = to_canonical_json(marks)
    known = (text, state.contexts, attempts.resumes, attempts.resumed)
    searched = (int(marks.hold is not None or marks.conversation), marks.retry_at, marks.due, marks.project)
    changed = connection.execute(UPDATE_MARKS_SQL, (*known, *searched, number, *known)).rowcount > 0
    if changed:
        connection.execute("DELETE FROM label WHERE task = ?", (number,))
        connection.executemany("INSERT INTO label (label, task) VALUES (?, ?)", [(label, number) for label in marks.labels])
    if marks.hold or state.status.over:
        connection.execute("UPDATE lease SET request = '' WHERE task = ? AND request <> ''", (number,))
    return changed


def marks_from_text(text: str) -> TicketMarks:
    return value_from_json(TicketMarks, text) if text != "{}" else NO_MARKS


def select_tickets(connection: SqlConnection, which: TicketQuery = ALL_TICKETS) -> list[tuple[Any, ...]]:
    conditions, given, order, most = ["true"], list[Any](), ORDER_SQL[which.order], which.most or NO_LIMIT
    statuses = which.statuses or (() if which.order in BY_NUMBER else tuple(TaskStatus))
    filters = list_filters(which)
    if statuses and not which.prefix and not which.part and not which.parents and not filters:
        own = "" if which.parents is None else " AND +turn < 2"
        text = f"SELECT task FROM (SELECT task FROM ticket WHERE status = ?{own} ORDER BY {order} LIMIT ?) AS first"
        conditions.append(f"number IN ({' UNION ALL '.join([text] * len(statuses))})")
        given += [value for status in statuses for value in (status.value, most)]
    elif which.statuses:
        conditions.append("status IN (SELECT value FROM json_each(?))")
        given.append(json.dumps(which.statuses))
    if which.prefix:
        conditions.append("id >= ? AND id < ?")
        given += [which.prefix, which.prefix + LAST_CHARACTER]
        order = "+" + order
    if which.part:
        conditions.append("lower(id) LIKE ?")
        given.append(f"%{which.part.lower()}%")
    if which.parents is not None:
        parts = "number IN (SELECT task FROM part WHERE parent IN (SELECT value FROM json_each(?)))"
        conditions.append(parts if which.parents else "parent IS NULL")
        given += [json.dumps(which.parents)] if which.parents else []
    conditions += [condition for condition, _ in filters]
    given += [value for _, value in filters]
    rows = f"{TICKET_ROWS_SQL} WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT ?"
    return connection.execute(rows, (*given, most)).fetchall()


def list_filters(which: TicketQuery) -> list[tuple[str, Any]]:
    """Conditions on what tasks are filed under, each with its value."""
    found = [("number IN (SELECT task FROM label WHERE label = ?)", label) for label in which.labels]
    found += [("project = ?", which.project)] if which.project else []
    return found + ([("due > 0 AND due < ?", which.due_before)] if which.due_before else [])


def detail_from_row(row: tuple[Any, ...]) -> TicketDetail | None:
    """None for a task that was at work when its database learnt to keep details, and has not been touched since."""
    step, limit, updated, question, options, *texts = row
    return None if updated is None else TicketDetail(step, limit, updated, question, tuple(json.loads(options)), *texts)


LEASE_SECONDS = 20.0
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
    def renew(self, worker: str, task: str) -> StopRequest | None:
        with self._database.writing() as connection:
            renewed = connection.execute(
                "UPDATE lease SET expires = ? WHERE worker = ? AND task = (SELECT number FROM task WHERE id = ?)"
                " RETURNING request",
                (self._clock.now() + self._lease_seconds, worker, task),
            ).fetchall()
            if not renewed:
                raise LeaseLost(f"{task} is no longer held by {worker}: another worker has taken it over")
        return value_from_json(StopRequest, renewed[0][0]) if renewed[0][0] else None

    @repeat_if_lost
    def ask_to_stop(self, task: str, request: StopRequest) -> None:
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE lease SET request = ? WHERE task = (SELECT number FROM task WHERE id = ?)",
                (to_canonical_json(request), task),
            )

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
            rows = connection.execute(COUNTS_SQL).fetchall()
            asking = "SELECT count(*) FROM ticket WHERE question != '' AND turn < 2"
            (questions,) = connection.execute(asking).fetchone()
            (waiting,) = connection.execute(WAITING_SQL).fetchone()
        return QueueCounts({TaskStatus(status): count for status, count in rows}, questions, waiting)

    @repeat_if_lost
    def figures(self, since: float = 0.0) -> WorkFigures:
        with self._database.reading() as connection:
            return WorkFigures(*map(int, connection.execute(FIGURES_SQL, (since,)).fetchone()))

    def _next(self, connection: SqlConnection) -> "_TicketRow | None":
        """The first task that can be worked on: running ones go before new ones. Reads no more rows than there are owners."""
        now, held = self._clock.now(), {("", False): False}
        for (number,) in connection.execute(WAKE_SQL, (now,)).fetchall():
            connection.execute(f"{TURN_SQL} WHERE task = ?", (number,))
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
        if line.ticket.parent or not (line.ticket.can_be_named or line.ticket.owner == worker):
            raise make_claim_error(line.ticket)
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
    number, task, goal, type, status, priority, needs, parent, worker, expires, marked, *details = row
    owner = _find_holder(worker, expires, now) if worker else ""
    status, needs = TaskStatus(status), tuple(json.loads(needs))
    open = status in (TaskStatus.READY, TaskStatus.RUNNING) and not owner and not parent
    unmet = _list_unmet_needs(needs, statuses)
    detail, marks = detail_from_row(tuple(details)), marks_from_text(marked)
    ready = open and not unmet and not marks.hold and not marks.conversation and marks.retry_at <= now
    return _TicketRow(number, QueueTicket(task, goal, type, status, priority, needs, ready, owner, parent, detail, unmet, marks))


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
    unmet_needs = (UnmetNeed(task, statuses.get(task)) for task in needs)
    return tuple(need for need in unmet_needs if not (need.status and need.status.satisfies))
