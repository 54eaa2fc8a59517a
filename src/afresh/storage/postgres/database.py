"""One schema of a PostgreSQL server, opened so that what was committed is known, and a lost connection is made again."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeVar
from zlib import crc32

from afresh.errors import NeedsPerson
from afresh.ports.patience import may_wait_for_storage
from afresh.storage.postgres.connection import PostgresConnection
from afresh.storage.postgres.errors import (
    ConnectionLost,
    ServerUnreachable,
    describe_server,
    make_lost_error,
    make_unknown_outcome_error,
    translate_server_error,
)
from afresh.storage.sql.blocks import TEXT_MARK
from afresh.storage.sql.database import SqlConnection, SqlDatabase
from afresh.storage.sql.format import STORE_FORMAT, make_format_error
from afresh.storage.sql.schema import FACT_TABLES, translate_schema

RECONNECT_SECONDS = 60.0
"""How long a process that was connected waits for a server that went away, for example to restart."""
RECONNECT_PAUSE_SECONDS = 0.5
BEGIN_READING_SQL = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
SERVER_TIME_SQL = "SELECT extract(epoch FROM clock_timestamp())::float8"
SCHEMA_LOCK = 0x61667265
"""Advisory lock under which schemas are made, one at a time."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PostgresSchema:
    name: str
    text: str
    announce: Callable[[], None] = lambda: None
    """Called before the schema is made."""

    @property
    def lock(self) -> int:
        """The advisory lock that a writer holds."""
        return int.from_bytes(sha256(self.name.encode()).digest()[:8], "big", signed=True)


class PostgresDatabase(SqlDatabase):
    """One schema of a server. A writer holds an advisory lock of the schema: as in SQLite, writers of a project take turns, so
    that no two of them can wait for each other."""

    def __init__(self, address: str, schema: PostgresSchema) -> None:
        self._address, self._schema = address, schema
        super().__init__()

    def _begin_life(self) -> None:
        super()._begin_life()
        self._was_connected = False

    def _begin_reading(self) -> PostgresConnection:
        return self._begin(BEGIN_READING_SQL)[0]

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

    def keep_changes(self) -> None:
        """They are always kept."""

    def read_version(self) -> int:
        """Changes with every transaction of the server, also those of other projects."""
        return crc32(self.repeat(lambda: self._ask("SELECT pg_current_snapshot()::text")).encode())

    def read_time(self) -> float:
        """The server's clock, which is the same for all workers, in seconds."""
        return self.repeat(lambda: self._ask(SERVER_TIME_SQL))

    def _ask(self, question: str) -> Any:
        with self._exclusive():
            return self._open().execute(question).fetchone()[0]

    def _roll_back(self, connection: PostgresConnection) -> None:
        connection.roll_back()

    def _is_in_transaction(self, connection: PostgresConnection) -> bool:
        return not connection.is_lost

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
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


def read_server_time(connection: SqlConnection) -> tuple[str, float]:
    """For turns of calls: all workers ask the same server."""
    return "server", connection.execute(SERVER_TIME_SQL).fetchone()[0]


class ServerClock:
    """Leases are judged by one clock, whatever the clocks of the workers say."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    def now(self) -> float:
        return self._database.read_time()


def create_schema(connection: PostgresConnection, schema: PostgresSchema, address: str) -> None:
    """Make a new schema in one transaction; a second process finds nothing left to do."""
    found = _read_format(connection, schema.name)
    if found == 0:
        schema.announce()
        connection.run_script(f"BEGIN; SELECT pg_advisory_xact_lock({SCHEMA_LOCK})")
        try:
            found = _read_format(connection, schema.name)
            if found == 0:
                begin = f'CREATE SCHEMA IF NOT EXISTS "{schema.name}"; CREATE TABLE schema_version (number BIGINT NOT NULL)'
                found = STORE_FORMAT
                connection.run_script(
                    ";\n".join((begin, translate_schema(schema.text), f"INSERT INTO schema_version VALUES ({found})"))
                )
            connection.run_script("COMMIT")
        except BaseException:
            connection.roll_back()
            raise
    if found != STORE_FORMAT:
        raise make_format_error(f"schema {schema.name} of {describe_server(address)}", found)


def _read_format(connection: PostgresConnection, schema: str) -> int:
    """0 if it is not there. The tables of the server are asked: what it remembers of names may be older than the lock."""
    there = connection.execute("SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename = 'schema_version'", (schema,))
    return connection.execute(f'SELECT number FROM "{schema}".schema_version').fetchone()[0] if there.fetchone() else 0
