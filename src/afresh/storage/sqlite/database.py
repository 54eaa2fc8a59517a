"""One SQLite file, opened so that what was committed survives a crash and a power cut."""

import atexit
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from shutil import copyfile
from threading import Lock
from typing import Literal, TypeVar
from weakref import WeakSet

from afresh.errors import AfreshError
from afresh.storage.sql.database import SqlDatabase
from afresh.storage.sql.format import STORE_FORMAT, make_format_error
from afresh.storage.sql.schema import JOURNAL_SCHEMA, DatabaseSchema
from afresh.storage.sqlite.errors import (
    BUSY_CODE,
    is_unwritable,
    make_damaged_error,
    read_error_code,
    translate_error,
    translate_errors,
)
from afresh.workspace.disk_files import refuse_symlinks

T = TypeVar("T")
BUSY_TIMEOUT_SECONDS = 20.0
CHECKPOINT_BYTES = 4 << 20
MIN_DATABASE_BYTES = 512
MAX_REPORTED_FAULTS = 3
PAGE_CACHE_KB = 512
"""Page cache of each file in this process; the kernel caches the rest."""
COMMIT_OVERHEAD_BYTES = 16 << 10
"""What a commit adds to the log beyond its payload, roughly: whole pages are logged."""


Place = Literal["nowhere", "empty tables", "file to read", "file", "copy"]
"""What a connection leads to: no connection; tables in memory, since there is no file yet; a file; a copy of it in memory."""


class Database(SqlDatabase):
    """One file. Reading changes nothing on the disk: the first commit makes the file, and moves its log into it."""

    def __init__(
        self,
        path: Path,
        checkpoint_bytes: int = CHECKPOINT_BYTES,
        schema: DatabaseSchema = JOURNAL_SCHEMA,
        make_folder: Callable[[], object] | None = None,
        is_kept: Callable[[], bool] | None = None,
    ) -> None:
        """`is_kept`: whether what is written comes to the file; while it doesn't, it is written to a copy in memory."""
        self.path, self._schema = path, schema
        self._checkpoint_bytes = checkpoint_bytes
        self._make_folder, self._is_kept = make_folder, is_kept
        self.has_written = False
        super().__init__()
        _databases.add(self)

    def _begin_life(self) -> None:
        super()._begin_life()
        self._afterwards: list[Callable[[], None]] = []
        self._failure: AfreshError | None = None
        self._place: Place = "nowhere"

    def _begin_reading(self) -> sqlite3.Connection:
        connection = self._open()
        _begin(connection, "BEGIN")
        return connection

    @contextmanager
    def _commit(self) -> Iterator[sqlite3.Connection]:
        connection = self._open_for_writing()
        if self._failure:
            raise self._failure
        try:
            _begin(connection, "BEGIN IMMEDIATE")
            self._writing = True
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                self._roll_back(connection)
                self._afterwards.clear()
                raise
            finally:
                self._writing = False
        except sqlite3.Error as fault:
            self._remember(fault)
            raise
        self.has_written = True
        while self._afterwards:
            self._afterwards.pop(0)()
        self._logged += COMMIT_OVERHEAD_BYTES
        if self._logged >= self._checkpoint_bytes:
            self._checkpoint(connection)

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
        """Remove the file; the next commit makes a new one."""
        self.close()
        if self._writes_to_file:
            _remove_files(self.path)
        else:
            self._connection, self._place = _make_in_memory(self._schema), "copy"

    def keep_changes(self) -> None:
        """Write to the file from now on, also in a process that only reads otherwise."""
        self._is_kept = None

    def read_version(self) -> int:
        with self._exclusive():
            return self._open().execute("PRAGMA data_version").fetchone()[0]

    @property
    def _writes_to_file(self) -> bool:
        return self._is_kept is None or self._is_kept()

    def _open(self) -> sqlite3.Connection:
        """To read: the file as it is; where there is none, empty tables in memory."""
        outdated = (self._place == "empty tables" and self.path.exists()) or (self._place == "copy" and self._writes_to_file)
        if outdated and not self._reading and not self._writing:
            self.close()
        if self._connection is None:
            self._connection, self._place = open_for_reading(self.path, self._schema)
        return self._connection

    def _open_for_writing(self) -> sqlite3.Connection:
        if not self._writes_to_file:
            connection = self._open()
            if self._place != "copy":
                self._connection, self._place = _copy_into_memory(connection), "copy"
        elif self._place != "file":
            self.close()
            if self._make_folder:
                self._make_folder()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection, self._place = open_connection(self.path, self._schema), "file"
            log = self.path.with_name(self.path.name + "-wal")
            if log.exists() and log.stat().st_size > 4 * self._checkpoint_bytes and not is_unwritable(self.path):
                self._checkpoint(self._connection)
        assert self._connection
        return self._connection

    def close(self) -> None:
        super().close()
        self._place = "nowhere"

    def close_at_end(self) -> None:
        """SQLite takes a connection that nobody closes for one whose statements go on, and leaves its log."""
        if self._connection and self._process == os.getpid() and self._lock.acquire(blocking=False):
            with suppress(AfreshError, sqlite3.Error):
                self.close()
            self._lock.release()

    __del__ = close_at_end

    def _translate_errors(self) -> AbstractContextManager[None]:
        return translate_errors(self.path)

    def _is_in_transaction(self, connection: sqlite3.Connection) -> bool:
        return connection.in_transaction

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")

    def _remember(self, fault: sqlite3.Error) -> None:
        """Refuse all writes after a failed fsync: the kernel may drop the dirty pages and report success the next time."""
        if read_error_code(fault) == sqlite3.SQLITE_IOERR:
            self._failure = translate_error(fault, self.path)

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
            self._roll_back(connection)


_creating = Lock()
_databases = WeakSet[Database]()


@atexit.register
def _close_databases() -> None:
    """Whoever is the last to close a file moves its log into it, so that no log of megabytes stays behind."""
    for database in list(_databases):
        database.close_at_end()


def open_for_reading(path: Path, schema: DatabaseSchema) -> tuple[sqlite3.Connection, Place]:
    """A connection that changes nothing, and where it reads. A log that a killed writer has left is read where it is."""
    log = path.with_name(path.name + "-wal")
    refuse_symlinks(path.parent, path, log, path.with_name(path.name + "-shm"))
    unwritable = path.parent.is_dir() and is_unwritable(path)
    if not path.exists() or not path.stat().st_size or not _check_file(path, schema, unwritable):
        return _make_in_memory(schema), "empty tables"
    is_left = log.exists() and log.stat().st_size > 0
    connection = (
        _open_in_place(path) if unwritable else _connect_read_only(path, "mode=ro") if is_left else _connect(path, schema)
    )
    if connection.execute("PRAGMA user_version").fetchone() == (0,):  # another process is making the tables
        connection.close()
        return _make_in_memory(schema), "empty tables"
    connection.execute("PRAGMA query_only = ON")
    return connection, "file to read"


def _make_in_memory(schema: DatabaseSchema) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    create_tables(connection, schema)
    return connection


def open_connection(path: Path, schema: DatabaseSchema = JOURNAL_SCHEMA) -> sqlite3.Connection:
    """A connection to a file that is known to be ours, with its schema up to date."""
    if path.parent.is_dir() and is_unwritable(path):
        connection, _ = open_for_reading(path, schema)
        connection.execute("PRAGMA query_only = ON")
        return connection
    refuse_symlinks(path.parent, path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm"))
    if path.exists() and not _check_file(path, schema, unwritable=False):
        _remove_files(path)
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


def _check_file(path: Path, schema: DatabaseSchema, unwritable: bool) -> bool:
    """Look before touching: through a connection that can't write, so that a strange file keeps its every byte. False if it has
    another format and can be made again."""
    size = path.stat().st_size
    if size == 0:
        return True
    if size < MIN_DATABASE_BYTES:
        # SQLite would take it for an empty one, and write over it
        raise make_damaged_error(path, "is not a database")
    unfinished = path.with_name(path.name + "-journal").exists()  # power was lost while the file was made: SQLite must roll back
    uri = f"{path.absolute().as_uri()}?{'immutable=1' if unwritable else 'mode=rw' if unfinished else 'mode=ro'}"
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None)
    try:
        connection.execute("BEGIN")  # all at one moment
        asked = ("PRAGMA user_version", "PRAGMA application_id", "SELECT count(*) FROM sqlite_schema")
        version, application, tables = (connection.execute(text).fetchone()[0] for text in asked)
    finally:
        connection.close()
    if application != schema.application and (tables or version or application):
        raise make_damaged_error(path, "is a database of another program")
    if version not in (0, STORE_FORMAT):
        if schema.lasting or unwritable:
            raise make_format_error(path, version)
        return False
    return True


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


def create_tables(connection: sqlite3.Connection, schema: DatabaseSchema) -> None:
    """Make the tables of a new file in one transaction; a second process finds nothing left to do. A file that has them is only
    read: a command that reads waits for no writer."""
    if connection.execute("PRAGMA user_version").fetchone() == (STORE_FORMAT,):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("PRAGMA user_version").fetchone() == (0,):
            for statement in schema.statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {schema.application}")
            connection.execute(f"PRAGMA user_version = {STORE_FORMAT}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it already
            connection.execute("ROLLBACK")
        raise


def _open_in_place(path: Path) -> sqlite3.Connection:
    """With its log, which SQLite reads only where it can make its shared index; otherwise a copy of both, in memory."""
    log = path.with_name(path.name + "-wal")
    try:
        return _connect_read_only(path, "mode=ro")
    except sqlite3.OperationalError:
        if not log.exists() or not log.stat().st_size:
            return _connect_read_only(path, "immutable=1")
    with tempfile.TemporaryDirectory(prefix="afresh-reading-") as folder:
        for place in (path, log):
            copyfile(place, Path(folder, place.name))
        return _copy_into_memory(_connect_read_only(Path(folder, path.name), "mode=rw"))


def _connect_read_only(path: Path, how: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{how}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _copy_into_memory(source: sqlite3.Connection) -> sqlite3.Connection:
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    source.backup(copy)
    source.close()
    return copy


def find_file_damage(path: Path) -> str:
    """What SQLite finds wrong with a file, which is not changed; empty if it is whole, or there is none."""
    if not path.exists() or not path.stat().st_size:
        return ""
    refuse_symlinks(path.parent, path)
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_TIMEOUT_SECONDS)
        try:
            rows = connection.execute(f"PRAGMA integrity_check({MAX_REPORTED_FAULTS})").fetchall()
        finally:
            connection.close()
    except sqlite3.Error as fault:
        return str(fault)
    found = [row[0] for row in rows if row[0] != "ok"]
    return "; ".join(found)


def _begin(connection: sqlite3.Connection, how: str) -> None:
    """An interrupt right after a BEGIN leaves a transaction open that nobody ends."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")
    connection.execute(how)
