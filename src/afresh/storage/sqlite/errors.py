"""SQLite's errors, as what happened, what is safe and what to do."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from afresh.errors import AfreshError, Broken, Damaged, DiskFault, NeedsPerson, TryAgain
from afresh.storage.sql.schema import JOURNAL_FILE_NAME

BUSY_CODE = sqlite3.SQLITE_BUSY
LOCKED_CODE = sqlite3.SQLITE_LOCKED
UNREADABLE_TEXT = "Could not decode to UTF-8"
"""How Python's module begins to complain of a text whose bytes were changed."""
UNUSABLE_CODES = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_AUTH)


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Raise SQLite's errors about `path` as AfreshError."""
    try:
        yield
    except sqlite3.Error as fault:
        raise translate_error(fault, path) from fault
    except UnicodeDecodeError as fault:  # in SQLite's message about a schema whose bytes were changed, or in a text
        raise make_damaged_error(path, "is damaged") from fault


def read_error_code(fault: sqlite3.Error) -> int:
    """The primary result code; 0 when Python's module itself complains."""
    return getattr(fault, "sqlite_errorcode", 0) & 0xFF


def translate_error(fault: sqlite3.Error, path: Path) -> AfreshError:
    found = read_error_code(fault)
    if found in (BUSY_CODE, LOCKED_CODE):
        return TryAgain(f"{path} is locked: another process has been writing to it for too long", local=True)
    if found == sqlite3.SQLITE_FULL:
        return DiskFault(
            f"no room left to write to {path}",
            next="free some space on that disk, then `afresh resume`",
            safe="everything up to the last commit is kept; the write that failed was rolled back",
        )
    if found == sqlite3.SQLITE_IOERR:
        return DiskFault(
            f"the disk failed under {path}: {fault}",
            next="check the disk and its connection, then `afresh resume` in a new process",
            safe="everything up to the last commit",
        )
    if found in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or str(fault).startswith(UNREADABLE_TEXT):
        return make_damaged_error(path, "is not a database" if found == sqlite3.SQLITE_NOTADB else "is damaged")
    if found in UNUSABLE_CODES:
        return make_unwritable_error(path, fault)
    return Broken(f"{path}: {fault}")


def make_damaged_error(path: Path, what: str) -> Damaged:
    from afresh.storage.export.manifest import describe_import

    offer = describe_import(path.parent.parent / "export") if path.name == JOURNAL_FILE_NAME else ""
    return Damaged(
        f"{path} {what}",
        next=f"move it away (mv {path} {path}.old), then {offer}"
        if offer
        else "move it away, or restore it from a backup, and start again",
        safe="the file was not touched; branches and snapshots in git are whole",
    )


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
