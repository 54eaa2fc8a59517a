"""A state from its snapshot alone. Apart from the journal, because events take as long to import as all the rest of it."""

from sqlite3 import Connection

from afresh.core.state import State
from afresh.storage.sqlite.state_snapshot import decode_state


def read_resting_state(connection: Connection, task: str) -> State | None:
    """The state of a task whose snapshot is at the end of its journal; None if the journal has to be read."""
    row = connection.execute(
        "SELECT body, ticket.seq, hash FROM task JOIN ticket ON ticket.task = number JOIN snapshot ON snapshot.task = number"
        " WHERE id = ? AND snapshot.seq = ticket.seq",
        (task,),
    ).fetchone()
    try:
        state = decode_state(row[0]) if row else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return state if state and (state.head.seq, state.head.hash) == (row[1], row[2].hex()) else None
