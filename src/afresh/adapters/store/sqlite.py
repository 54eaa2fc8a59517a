"""The journal and the archive in one SQLite file."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

from afresh.adapters.store import archive, snapshot
from afresh.adapters.store.database import Database
from afresh.adapters.store.packing import packed, unpacked
from afresh.domain import chain
from afresh.domain.codec import dumps
from afresh.domain.event import Checkpointed, Entry, Head
from afresh.domain.fact import Block
from afresh.domain.fold import fold
from afresh.domain.state import State
from afresh.domain.task import Status, Task
from afresh.errors import BadInput, Broken, Conflict, Damaged

PAGE = 64
"""Records that are read at a time, about 250 entries."""
SNAPSHOT_EVERY = 100
"""Entries between two snapshots, about fourteen steps: writing one costs more than reading these again."""
LONG = 4_000
REMEMBERED = 4_096


class SqliteStore:
    def __init__(self, database: Database | Path) -> None:
        self._database = database if isinstance(database, Database) else Database(database)
        self._kept: set[str] = set()

    def append(self, entries: Sequence[Entry], blocks: Sequence[Block], state: State) -> None:
        _coherent(entries, state)
        strange = [block for block in blocks if block.id not in self._kept]
        first, lines = entries[0], "\n".join([entry.body for entry in entries])
        hashes, bodies = bytes.fromhex("".join([entry.hash for entry in entries])), packed(lines, LONG)
        with self._database.writing(len(bodies) + sum([len(block.text) for block in strange])) as connection:
            before = _standing(connection, state.task.id)
            _continues(first, before)
            number = before.number or _ordered(connection, state.task)
            row = (number, first.seq, hashes, bodies, archive.claimed(connection, number, first.seq, strange))
            connection.execute("INSERT INTO record (task, seq, hashes, entries, blocks) VALUES (?, ?, ?, ?, ?)", row)
            _stand(connection, number, state, before.status)
            if _due(entries, state):
                kept = (number, state.head.seq, snapshot.written(state))
                connection.execute("INSERT OR REPLACE INTO snapshot (task, seq, body) VALUES (?, ?, ?)", kept)
        self._remember(strange)

    def load(self, task: str) -> State:
        with self._database.reading() as connection:
            state = _recalled(connection, _known(connection, task))
        return state or fold(None, self.journal(task))

    def heads(self) -> dict[str, Head]:
        """Where each journal ends."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT id, seq, hash FROM task JOIN ticket ON ticket.task = number")
            return {task: Head(seq, hash.hex()) for task, seq, hash in rows}

    def journal(self, task: str, after: Head = Head()) -> Iterator[Entry]:
        """From the beginning; or what follows after the end of a commit. Where `after` is none, from the beginning too."""
        with self._database.reading() as connection:
            standing = _known(connection, task)
            begun = connection.execute("SELECT 1 FROM record WHERE task = ? AND seq = ?", (standing.number, after.seq + 1))
            at, end = after if begun.fetchone() else Head(), standing.head.seq
        while at.seq < end:
            with self._database.reading() as connection:
                page = _entries(connection, standing.number, at, end)
            if not page:
                raise Damaged(
                    f"journal of {task} ends at entry {at.seq}, {end} were written",
                    next="restore the database from a backup",
                    safe="the entries before that are intact",
                )
            at = Head(page[-1].seq, page[-1].hash)
            yield from page

    def read(self, block: str) -> str:
        with self._database.reading() as connection:
            return archive.read(connection, block)

    def find(self, prefix: str, task: str) -> Sequence[str]:
        with self._database.reading() as connection:
            return archive.found(connection, prefix, task)

    def close(self) -> None:
        self._kept.clear()
        self._database.close()

    def _remember(self, blocks: Sequence[Block]) -> None:
        """Most of a window is the window before: what is known to be committed need not be asked for."""
        if len(self._kept) > REMEMBERED:
            self._kept.clear()
        self._kept.update([block.id for block in blocks])


def _coherent(entries: Sequence[Entry], state: State) -> None:
    """Entries and state must tell one story before any of it is written."""
    if not entries or Head(entries[-1].seq, entries[-1].hash) != state.head:
        raise Broken("the state does not stand at the last of the entries that lead to it")
    for before, entry in pairwise(entries):
        if entry.seq != before.seq + 1 or entry.hash != chain.digest(before.hash, entry.body):
            raise Broken(f"entry {entry.seq} does not follow entry {before.seq}")
    if {entry.task for entry in entries} != {state.task.id}:
        raise Broken("one append is for one task")


def _due(entries: Sequence[Entry], state: State) -> bool:
    """A snapshot is written when the task comes to rest, now and then, and when it is asked for."""
    now_and_then = entries[0].seq // SNAPSHOT_EVERY != (state.head.seq + 1) // SNAPSHOT_EVERY
    return now_and_then or state.status is not Status.RUNNING or isinstance(entries[-1].event, Checkpointed)


class _Standing(NamedTuple):
    """Where a task's journal ends."""

    number: int = 0
    status: str = ""
    head: Head = Head()


def _standing(connection: Connection, task: str) -> _Standing:
    row = connection.execute(
        "SELECT number, status, seq, hash FROM task JOIN ticket ON ticket.task = number WHERE id = ?", (task,)
    ).fetchone()
    return _Standing(row[0], row[1], Head(row[2], row[3].hex())) if row else _Standing()


def _known(connection: Connection, task: str) -> _Standing:
    standing = _standing(connection, task)
    if not standing.number:
        raise BadInput(f"there is no task {task!r}", next="`afresh list` shows the tasks there are")
    return standing


def _continues(first: Entry, before: _Standing) -> None:
    head = before.head
    if first.seq != head.seq + 1 or first.hash != chain.digest(head.hash, first.body):
        raise Conflict(f"the journal of {first.task} stands at entry {head.seq}; entry {first.seq} does not follow from it")


def _ordered(connection: Connection, task: Task) -> int:
    """Number a new task: the order of the queue."""
    row = (task.id, task.goal, task.type, task.priority, dumps(task.needs))
    made = connection.execute("INSERT INTO task (id, goal, type, priority, needs) VALUES (?, ?, ?, ?, ?) RETURNING number", row)
    number = made.fetchall()[0][0]
    if task.parent:
        connection.execute("INSERT INTO part (task, parent) VALUES (?, ?)", (number, task.parent))
    return number


def _stand(connection: Connection, number: int, state: State, before: str) -> None:
    """Move the ticket. Its status is indexed, and touched only when it changes: that saves a page in most commits."""
    head = (state.head.seq, bytes.fromhex(state.head.hash), number)
    if not before:
        connection.execute("INSERT INTO ticket (seq, hash, task, status) VALUES (?, ?, ?, ?)", (*head, state.status.value))
        return
    connection.execute("UPDATE ticket SET seq = ?, hash = ? WHERE task = ?", head)
    if state.status.value != before:
        connection.execute("UPDATE ticket SET status = ? WHERE task = ?", (state.status.value, number))


def _recalled(connection: Connection, standing: _Standing) -> State | None:
    """The snapshot, folded on to the head. None when that does not fit: the journal is the truth, and can make it again."""
    row = connection.execute("SELECT body FROM snapshot WHERE task = ?", (standing.number,)).fetchone()
    try:
        state = snapshot.read(row[0]) if row else None
        state = fold(state, _entries(connection, standing.number, state.head, standing.head.seq)) if state else None
    except (ValueError, TypeError, KeyError, AttributeError, Damaged):
        return None
    return state if state and state.head == standing.head else None


def _entries(connection: Connection, number: int, at: Head, end: int) -> list[Entry]:
    """The next entries after `at`, up to `end`, each checked against the one before it."""
    rows = connection.execute(
        "SELECT hashes, entries FROM record WHERE task = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
        (number, at.seq, end, PAGE),
    )
    entries: list[Entry] = []
    for hashes, bodies in rows:
        for place, body in enumerate(_plain(bodies, at.seq + 1).split("\n")):
            entry = chain.read(body, at, hashes[place * 32 : place * 32 + 32].hex())
            entries.append(entry)
            at = Head(entry.seq, entry.hash)
    return entries


def _plain(body: str | bytes, seq: int) -> str:
    try:
        return unpacked(body)
    except ValueError as fault:
        raise Damaged(
            f"journal entry {seq} can't be read: {fault}",
            next="restore the database from a backup",
            safe="entries before it are intact",
        ) from fault
