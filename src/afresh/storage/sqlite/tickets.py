"""A task's line in the queue: written with every commit of its journal, read by lists without its state."""

import json
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

from afresh.core.codec import to_canonical_json
from afresh.core.task import ALL_TICKETS, TicketDetail, TicketOrder, TicketQuery

if TYPE_CHECKING:
    from afresh.core.state import State

TICKET_ROWS_SQL = (
    "SELECT task.number, id, goal, type, status, priority, needs, coalesce(parent, ''), worker, expires,"
    " step, step_limit, updated, question, options, ruling, outcome"
    " FROM task JOIN ticket ON ticket.task = number LEFT JOIN part ON part.task = number LEFT JOIN lease ON lease.task ="
    " iif(parent IS NULL, number, (SELECT whole.number FROM task AS whole WHERE whole.id = parent))"
)
"""Who holds a task holds its parts."""
INSERT_TICKET_SQL = (
    "INSERT INTO ticket (seq, hash, step, step_limit, updated, question, options, ruling, outcome, task, status)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
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
    """Write the ticket of a task that had the status `before`; empty: it had none. The status is indexed, and touched only when it
    changes: that saves a page in most commits."""
    from afresh.core.state import make_ticket_detail

    detail = make_ticket_detail(state)
    head = (state.head.seq, bytes.fromhex(state.head.hash))
    texts = (detail.question, to_canonical_json(detail.options), detail.ruling, detail.outcome)
    row = (*head, detail.step, detail.limit, detail.updated, *texts, number)
    if not before:
        connection.execute(INSERT_TICKET_SQL, (*row, state.status.value))
        return
    connection.execute(UPDATE_TICKET_SQL, row)
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
    step, limit, updated, question, options, ruling, outcome = row
    return None if updated is None else TicketDetail(step, limit, updated, question, tuple(json.loads(options)), ruling, outcome)
