"""The proof that a worker is alive: an advisory lock on its name, held by a connection that does nothing else.

PostgreSQL drops the lock with the connection. Who can take the lock of another worker knows that it is dead, or will stop before
its next call or action, because it asks this connection first.
"""

import time
from contextlib import suppress
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

from afresh.errors import Cancelled, NotPossible
from afresh.storage.postgres.errors import make_connect_error

if TYPE_CHECKING:
    from psycopg import Connection

KEEPALIVE = {"keepalives": 1, "keepalives_idle": 3, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 8_000}
"""How soon this side notices that the other is gone: seconds, the last one milliseconds."""
SERVER_KEEPALIVE = (
    "SET tcp_keepalives_idle = 3",
    "SET tcp_keepalives_interval = 2",
    "SET tcp_keepalives_count = 3",
    "SET tcp_user_timeout = 8000",
    "SET idle_session_timeout = 0",
)
CONNECT_SECONDS = 5
FRESH_SECONDS = 0.5
"""How long an answer of the server counts: an action may follow another within milliseconds."""


def open_connection(address: str) -> "Connection":
    """A connection that notices within seconds that the other side is gone. Each statement is a transaction of its own."""
    import psycopg
    from psycopg.conninfo import make_conninfo

    try:
        return psycopg.connect(make_conninfo(address, connect_timeout=CONNECT_SECONDS, **KEEPALIVE), autocommit=True)
    except psycopg.Error as fault:
        raise make_connect_error(fault, address) from fault


def key_from_name(name: str) -> int:
    """The key of a worker's lock: a number of 64 bits with a sign."""
    return int.from_bytes(sha256(f"afresh worker {name}".encode()).digest()[:8], "big", signed=True)


class ExecutorLock:
    """A Cancellation: it stops a worker that has lost its lock."""

    def __init__(self, address: str, name: str) -> None:
        self.name, self._address = name, address
        self._guard = Lock()
        self._connection: Connection | None = None
        self._answered = 0.0
        self._why = ""

    def take(self) -> None:
        """NotPossible if a living worker has this name."""
        self._connection = open_connection(self._address)
        for statement in SERVER_KEEPALIVE:
            self._connection.execute(statement)
        row = self._connection.execute("SELECT pg_try_advisory_lock(%s)", (key_from_name(self.name),)).fetchone()
        if not row or not row[0]:
            self._connection.close()
            raise NotPossible(
                f"another worker is called {self.name}", next="stop it, or start this one on a host with another name", safe=""
            )

    def check(self) -> None:
        """Ask the server through the connection that holds the lock. Cancelled if it does not answer: then the lock is another's
        to take, for good."""
        with self._guard:
            if not self._why and time.monotonic() - self._answered > FRESH_SECONDS:
                self._ask()
            if self._why:
                raise Cancelled(self._why)

    @property
    def lost(self) -> str:
        """Why it is lost; empty while it is held."""
        return self._why

    def _ask(self) -> None:
        try:
            assert self._connection
            self._connection.execute("SELECT 1")
            self._answered = time.monotonic()
        except Exception as fault:  # whatever it is, the lock can't be relied on
            lines = str(fault).strip().splitlines()
            self._why = f"the connection that holds this worker's lock is lost ({lines[0] if lines else type(fault).__name__})"

    def release(self) -> None:
        with suppress(Exception):
            assert self._connection
            self._connection.close()


def is_worker_gone(connection: "Connection", name: str) -> bool:
    """Whether the lock of this worker is free. To find out it is taken for a moment, so two callers can't both get True."""
    key = key_from_name(name)
    row = connection.execute("SELECT pg_try_advisory_lock(%s)", (key,)).fetchone()
    if not row or not row[0]:
        return False
    connection.execute("SELECT pg_advisory_unlock(%s)", (key,))
    return True
