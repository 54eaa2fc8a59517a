"""Opens a database in a folder that can't be written to, so that commands that only read still work."""

import os
import sqlite3
import tempfile
from pathlib import Path
from shutil import copyfile

from afresh.errors import NeedsPerson
from afresh.storage.sqlite.schemas import DatabaseSchema, create_tables

READING_COMMANDS = "`afresh status`, `show`, `diff`, `context` and `export FOLDER` still work"


def is_unwritable(path: Path) -> bool:
    """Whether neither the file nor its log can be written here."""
    return not os.access(path.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK))


def make_unwritable_error(path: Path, said: object = "") -> NeedsPerson:
    folder = path.parent
    if folder.is_dir() and os.statvfs(folder).f_flag & os.ST_RDONLY:
        what, advice = f"{folder} is on a file system that is mounted read-only", "mount it writable, and try again"
    elif is_unwritable(path):
        owner = f" (it belongs to user {folder.stat().st_uid}, you are {os.geteuid()})" if folder.is_dir() else ""
        what, advice = f"you have no right to write to {folder}{owner}", "change its owner or its mode, and try again"
    else:
        what, advice = f"{path} can't be opened for writing: {said}", "check that the folder exists and its permissions"
    return NeedsPerson(what, next=f"{advice}; {READING_COMMANDS}", safe="nothing was changed")


def open_read_only(path: Path, schema: DatabaseSchema) -> sqlite3.Connection:
    """A connection that refuses to write. An absent database is an empty one in memory."""
    connection = _open_in_place(path) if path.exists() and path.stat().st_size else None
    if connection is None or connection.execute("PRAGMA user_version").fetchone() == (0,):
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        create_tables(connection, schema)
    connection.execute("PRAGMA query_only = ON")
    return connection


def _open_in_place(path: Path) -> sqlite3.Connection:
    """With its log, which SQLite reads only where it can make its shared index; otherwise a copy of both, in memory."""
    log = path.with_name(path.name + "-wal")
    try:
        return _connect(path, "mode=ro")
    except sqlite3.OperationalError:
        if not log.exists() or not log.stat().st_size:
            return _connect(path, "immutable=1")
    with tempfile.TemporaryDirectory(prefix="afresh-reading-") as folder:
        for place in (path, log):
            copyfile(place, Path(folder, place.name))
        return _copy_into_memory(_connect(Path(folder, path.name), "mode=rw"))


def _connect(path: Path, how: str) -> sqlite3.Connection:
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
