"""One schema of a PostgreSQL server, opened so that what was committed is known, and a lost connection is made again."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any, TypeVar
from zlib import crc32

from afresh.errors import NeedsPerson
from afresh.ports.patience import may_wait_for_storage
from afresh.storage.postgres.connection import PostgresConnection
from afresh.storage.postgres.errors import (
    ConnectionLost,
    ServerUnreachable,
    make_lost_error,
    make_unknown_outcome_error,
    translate_server_error,
)
from afresh.storage.postgres.schemas import FACT_TABLES, PostgresSchema, create_schema
from afresh.storage.sql.blocks import TEXT_MARK
from afresh.storage.sql.database import SqlConnection

RECONNECT_SECONDS = 60.0
"""How long a process that was connected waits for a server that went away, for example to restart."""
RECONNECT_PAUSE_SECONDS = 0.5
BEGIN_READING_SQL = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
SERVER_TIME_SQL = "SELECT extract(epoch FROM clock_timestamp())::float8"
T = TypeVar("T")


class PostgresDatabase:
    """One session per process, shared by its threads under a lock. A writer holds an advisory lock of the schema: as in SQLite,
    writers of a project take turns, so that no two of them can wait for each other."""

    def __init__(self, address: str, schema: PostgresSchema) -> None:
        self._address, self._schema = address, schema
        self._begin_life()

    def _begin_life(self) -> None:
        self._process = os.getpid()
        self._lock = RLock()
        self._connection: PostgresConnection | None = None
        self._was_connected = False
        self._reading = False
        self._writing = False

    @contextmanager
    def reading(self) -> Iterator[PostgresConnection]:
        with self._exclusive():
            if self._writing or self._reading:
                yield self._open()
                return
            connection, _ = self._begin(BEGIN_READING_SQL)
            self._reading = True
            try:
                yield connection
            finally:
                self._reading = False
                connection.roll_back()

    @contextmanager
    def writing(self, payload: int = 0) -> Iterator[PostgresConnection]:
        """`payload` is for logs that have to be swept: the server sweeps its own."""
        with self._exclusive():
            if not self._writing:
                with self._commit() as connection:
                    yield connection
                return
            connection = self._open()
            with connection.savepoint():
                yield connection

    @contextmanager
    def _commit(self) -> Iterator[PostgresConnection]:
        begin = f"BEGIN; SELECT pg_advisory_xact_lock({self._schema.lock}), pg_current_xact_id()::text"
        connection, (_, transaction) = self._begin(begin)
        self._writing = True
        try:
            yield connection
        except BaseException:
            connection.roll_back()
            raise
        finally:
            self._writing = False
        self._finish(connection, transaction)

    def _finish(self, connection: PostgresConnection, transaction: str) -> None:
        """Commit. When the connection breaks meanwhile, ask the server what became of the transaction."""
        import psycopg

        try:
            connection.run_script("COMMIT")
        except psycopg.Error as fault:
            if not connection.is_lost:
                connection.roll_back()
                raise
            if not self._was_committed(transaction):
                raise make_lost_error(fault, self._address) from fault

    def _was_committed(self, transaction: str) -> bool:
        import psycopg

        until = time.monotonic() + RECONNECT_SECONDS
        while time.monotonic() < until:
            try:
                (status,) = self._open().execute("SELECT pg_xact_status(?::text::xid8)", (transaction,)).fetchone()
            except (psycopg.Error, NeedsPerson):
                status = None
            if status in ("committed", "aborted"):
                return status == "committed"
            time.sleep(RECONNECT_PAUSE_SECONDS)
        raise make_unknown_outcome_error(self._address)

    def repeat(self, work: Callable[[], T]) -> T:
        """Do this, and again when the connection was lost before the commit. A server that restarts is waited for."""
        until = time.monotonic() + RECONNECT_SECONDS
        while True:
            try:
                return work()
            except (ConnectionLost, ServerUnreachable):
                waits = self._was_connected and may_wait_for_storage()
                if self._writing or not waits or time.monotonic() > until:
                    raise
            time.sleep(RECONNECT_PAUSE_SECONDS)

    def is_there(self) -> bool:
        """The schema is made when it is opened, and reading one that is empty costs the same."""
        return True

    def encode_value(self, value: str | bytes) -> bytes:
        return TEXT_MARK + value.encode() if isinstance(value, str) else value

    def discard(self) -> None:
        """Forget the facts."""
        with self.writing() as connection:
            connection.execute(f"TRUNCATE {FACT_TABLES} RESTART IDENTITY")

    def read_version(self) -> int:
        """Changes with every transaction of the server, also those of other projects."""
        return crc32(self.repeat(lambda: self._ask("SELECT pg_current_snapshot()::text")).encode())

    def read_time(self) -> float:
        """The server's clock, which is the same for all workers, in seconds."""
        return self.repeat(lambda: self._ask(SERVER_TIME_SQL))

    def close(self) -> None:
        with self._lock:
            if self._connection and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def _ask(self, question: str) -> Any:
        with self._exclusive():
            return self._open().execute(question).fetchone()[0]

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Hold the session; errors of the driver are raised as ours."""
        if self._process != os.getpid():
            # A connection must not cross a fork, not even to be closed: it is left to the parent.
            _inherited_connections.append(self._connection)
            self._begin_life()
        with self._lock:
            try:
                yield
            except Exception as fault:
                if sys.modules.get("psycopg") is None:
                    raise
                from psycopg import Error

                if not isinstance(fault, Error):
                    raise
                lost = self._connection is not None and self._connection.is_lost
                raise (make_lost_error if lost else translate_server_error)(fault, self._address) from fault

    def _open(self) -> PostgresConnection:
        if self._connection is None or self._connection.is_lost:
            self._connection = None
            made = PostgresConnection(self._address, self._schema.name)
            try:
                create_schema(made, self._schema, self._address)
            except BaseException:
                made.close()
                raise
            self._connection, self._was_connected = made, True
        return self._connection

    def _begin(self, script: str) -> tuple[PostgresConnection, Any]:
        """Begin a transaction; on a new connection if this one was lost since the last."""
        import psycopg

        connection = self._open()
        try:
            return connection, connection.run_script(script)
        except psycopg.Error:
            connection.roll_back()
            if not connection.is_lost:
                raise
        connection = self._open()
        return connection, connection.run_script(script)


_inherited_connections: list[PostgresConnection | None] = []


def read_server_time(connection: SqlConnection) -> tuple[str, float]:
    """For turns of calls: all workers ask the same server."""
    return "server", connection.execute(SERVER_TIME_SQL).fetchone()[0]


class ServerClock:
    """Leases are judged by one clock, whatever the clocks of the workers say."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    def now(self) -> float:
        return self._database.read_time()
