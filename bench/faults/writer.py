"""A process that appends steps to a journal and acknowledges each commit, for disks that fail under it."""

import os
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from afresh.errors import AfreshError, BadInput, NeedsPerson
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sqlite.database import Database
from support.sample_journals import append_step, create_task

STOPPED_FOR_A_PERSON = 3
BROKE = 4
ACKNOWLEDGED = struct.Struct("<qq")
"""The last entry of a commit, and when it was acknowledged."""
CHECKPOINT_BYTES = 64 << 10
"""Small, so that the log is swept often."""


def write_until_stopped(folder: Path, tell: int, durable: bool) -> int:
    """In a child: append steps, and acknowledge each after its commit; 3 if it was stopped by an error for a person. The twin
    tells the disk not to wait."""
    try:
        database = Database(folder / "afresh.db", checkpoint_bytes=CHECKPOINT_BYTES)
        journal = SqlJournal(database)
        with database.reading() as connection:
            pass
        if not durable:
            connection.execute("PRAGMA synchronous = OFF")
        state = create_task(journal)
        while True:
            os.write(tell, ACKNOWLEDGED.pack(state.head.seq, time.monotonic_ns()))
            state = append_step(journal, state)
    except NeedsPerson:
        return STOPPED_FOR_A_PERSON
    except BaseException as fault:
        print(f"the writer ended: {type(fault).__name__}: {fault}", file=sys.stderr)
        return BROKE


@contextmanager
def writing(folder: Path, durable: bool = True) -> Iterator[tuple[int, int]]:
    """A child that writes, and the pipe that it acknowledges through."""
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        os.close(told)
        os._exit(write_until_stopped(folder, tell, durable))
    os.close(tell)
    try:
        yield child, told
    finally:
        os.close(told)


def read_last_acknowledged(told: int, moment: int | None = None) -> tuple[int, int]:
    """The last entry that was acknowledged before this moment, and the last of all."""
    data = b""
    while piece := os.read(told, 1 << 16):
        data += piece
    whole = data[: len(data) - len(data) % ACKNOWLEDGED.size]
    known = [(entry, at) for entry, at in ACKNOWLEDGED.iter_unpack(whole)]
    early = [entry for entry, at in known if moment is None or at < moment]
    return early[-1] if early else 0, known[-1][0] if known else 0


def read_kept(folder: Path) -> tuple[int, str]:
    """How many entries are there, each with its hash; and why the journal is refused, if it is."""
    database = Database(folder / "afresh.db")
    try:
        return sum(1 for _ in SqlJournal(database).journal("one")), ""
    except BadInput:  # no such task: power was lost before its first commit
        return 0, ""
    except AfreshError as fault:
        return 0, str(fault)
    finally:
        database.close()
