"""One SQLite file, opened so that what was committed survives a crash and a power cut."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, RLock
from typing import TypeVar

from afresh.errors import AfreshError
from afresh.storage.sql.format import STORE_FORMAT, make_format_error
from afresh.storage.sqlite.errors import (
    BUSY_CODE,
    make_damaged_error,
    read_error_code,
    translate_error,
    translate_errors,
)
from afresh.storage.sqlite.open_read_only import is_unwritable, open_read_only
from afresh.storage.sqlite.schemas import JOURNAL_SCHEMA, DatabaseSchema, create_tables
from afresh.workspace.disk_files import refuse_symlinks

T = TypeVar("T")
BUSY_TIMEOUT_SECONDS = 20.0
CHECKPOINT_BYTES = 4 << 20
MIN_DATABASE_BYTES = 512
PAGE_CACHE_KB = 512
"""Page cache of each file in this process; the kernel caches the rest."""
COMMIT_OVERHEAD_BYTES = 16 << 10
"""What a commit adds to the log beyond its payload, roughly: whole pages are logged."""


class Database:
    """One connection per process, shared by its threads under a lock."""

    def __init__(self, path: Path, checkpoint_bytes: int = CHECKPOINT_BYTES, schema: DatabaseSchema = JOURNAL_SCHEMA) -> None:
        self.path, self._schema = path, schema
        self._checkpoint_bytes = checkpoint_bytes
        self._begin_life()

    def _begin_life(self) -> None:
        self._process, self._lock = os.getpid(), RLock()
        self._connection: sqlite3.Connection | None = None
        self._logged, self._writing = 0, False
        self._afterwards: list[Callable[[], None]] = []
        self._failure: AfreshError | None = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A consistent view for a few queries; within `writing` it sees what was written there."""
        with self._exclusive() as connection:
            if self._writing:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                _roll_back(connection)

    @contextmanager
    def writing(self, payload: int = 0) -> Iterator[sqlite3.Connection]:
        """One atomic, durable commit; nothing of it happens if the body raises. `payload`: about how many bytes it writes.
        Within another `writing` of this thread it is a part of that commit."""
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._exclusive() as connection:
            if self._failure:
                raise self._failure
            self._logged += payload
            try:
                if self._writing:
                    yield connection
                else:
                    with self._commit(connection):
                        yield connection
                    while self._afterwards:
                        self._afterwards.pop(0)()
            except sqlite3.Error as fault:
                self._remember(fault)
                raise
            if self._logged >= self._checkpoint_bytes and not self._writing:
                self._checkpoint(connection)

    @contextmanager
    def _commit(self, connection: sqlite3.Connection) -> Iterator[None]:
        connection.execute("BEGIN IMMEDIATE")
        self._writing = True
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            _roll_back(connection)
            self._afterwards.clear()
            raise
        finally:
            self._writing = False
        self._logged += COMMIT_OVERHEAD_BYTES

    def after_commit(self, work: Callable[[], None]) -> None:
        """Do this when what was written is committed: now, or at the end of the transaction of this thread."""
        with self._lock:
            if self._writing:
                self._afterwards.append(work)
            else:
                work()

    def repeat(self, work: Callable[[], T]) -> T:
        """A file is not lost on the way."""
        return work()

    def is_there(self) -> bool:
        return self.path.exists()

    def encode_value(self, value: str | bytes) -> str | bytes:
        """As it is: SQLite keeps the type of each value."""
        return value

    def discard(self) -> None:
        """Remove the file; the next use makes a new one."""
        self.close()
        _remove_files(self.path)

    def read_version(self) -> int:
        """A number that changes when another connection has committed; asking costs next to nothing."""
        with self._exclusive() as connection:
            (version,) = connection.execute("PRAGMA data_version").fetchone()
            return version

    def close(self) -> None:
        """Give the file back; the next use opens it again."""
        with self._lock:
            if self._connection and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    @contextmanager
    def _exclusive(self) -> Iterator[sqlite3.Connection]:
        if self._process != os.getpid():
            # A connection must not cross a fork, not even to be closed: it is left to the parent.
            _inherited_connections.append(self._connection)
            self._begin_life()
        with self._lock, translate_errors(self.path):
            if self._connection is None:
                try:
                    self._connection = open_connection(self.path, self._schema)
                except UnicodeDecodeError as fault:  # in SQLite's message about a schema whose bytes were changed
                    raise make_damaged_error(self.path, "is damaged") from fault
                if not is_unwritable(self.path):
                    self._sweep_old_log(self._connection)
            yield self._connection

    def _remember(self, fault: sqlite3.Error) -> None:
        """Refuse all writes after a failed fsync: the kernel may drop the dirty pages and report success the next time."""
        if read_error_code(fault) == sqlite3.SQLITE_IOERR:
            self._failure = translate_error(fault, self.path)

    def _sweep_old_log(self, connection: sqlite3.Connection) -> None:
        log = self.path.with_name(self.path.name + "-wal")
        if log.exists() and log.stat().st_size > 4 * self._checkpoint_bytes:
            self._checkpoint(connection)

    def _checkpoint(self, connection: sqlite3.Connection) -> None:
        """Copy the log into the file while holding the write lock.

        SQLite before 3.51.3 can lose pages when a commit restarts the log just as another connection begins a checkpoint. So
        automatic checkpoints are off and ours run while a second connection holds the write lock: no commit can come between.
        """
        self._logged = 0
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return  # another process writes, and will sweep in its turn
        sweeper = _connect(self.path, self._schema)
        try:
            sweeper.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        finally:
            sweeper.close()
            _roll_back(connection)


_inherited_connections: list[sqlite3.Connection | None] = []
_creating = Lock()


def open_connection(path: Path, schema: DatabaseSchema = JOURNAL_SCHEMA) -> sqlite3.Connection:
    """A connection to a file that is known to be ours, with its schema up to date."""
    refuse_symlinks(path.parent, path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm"))
    unwritable = path.parent.is_dir() and is_unwritable(path)
    if path.exists():
        _check_file(path, schema, unwritable)
    if unwritable:
        return open_read_only(path, schema)
    with _creating:  # closing a file drops all locks that this process has on it, also those of another thread's connection
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = _connect(path, schema)
    try:
        _enable_wal(connection)
        create_tables(connection, schema)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_file(path: Path, schema: DatabaseSchema, unwritable: bool) -> None:
    """Look before touching: through a connection that can't write, so that a strange file keeps its every byte. One of another
    format that can be made again is removed."""
    size = path.stat().st_size
    if size == 0:
        return
    if size < MIN_DATABASE_BYTES:
        # SQLite would take so short a file for an empty one, and write over it
        raise make_damaged_error(path, "is not a database")
    unfinished = path.with_name(path.name + "-journal").exists()  # power was lost while the file was made: SQLite must roll back
    uri = f"{path.absolute().as_uri()}?{'immutable=1' if unwritable else 'mode=rw' if unfinished else 'mode=ro'}"
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None)
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    finally:
        connection.close()
    if application != schema.application and (tables or version or application):
        raise make_damaged_error(path, "is a database of another program")
    if version not in (0, STORE_FORMAT):
        if schema.lasting or unwritable:
            raise make_format_error(path, version)
        _remove_files(path)


def _remove_files(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _connect(path: Path, schema: DatabaseSchema) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=64
    )
    connection.execute(f"PRAGMA synchronous = {'FULL' if schema.lasting else 'NORMAL'}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute(f"PRAGMA cache_size = -{PAGE_CACHE_KB}")
    connection.execute(f"PRAGMA journal_size_limit = {4 * CHECKPOINT_BYTES}")
    return connection


def _enable_wal(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging. SQLite does not wait for its turn here, so we do."""
    until = time.monotonic() + BUSY_TIMEOUT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            return
        except sqlite3.OperationalError as fault:
            if read_error_code(fault) != BUSY_CODE or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")
