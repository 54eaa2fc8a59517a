"""The journal and the archive in one SQLite file."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from sqlite3 import Connection

from afresh.adapters.store import archive
from afresh.adapters.store.database import Database
from afresh.adapters.store.packing import packed, unpacked
from afresh.domain import chain
from afresh.domain.codec import dumps, loads
from afresh.domain.event import Entry, Head
from afresh.domain.fact import Block
from afresh.domain.fold import fold
from afresh.domain.state import State
from afresh.errors import BadInput, Broken, Conflict, Damaged

PAGE = 256
LONGEST_TAIL = 16


class SqliteStore:
    def __init__(self, database: Database | Path) -> None:
        self._database = database if isinstance(database, Database) else Database(database)

    def append(self, entries: Sequence[Entry], blocks: Sequence[Block], state: State) -> None:
        _coherent(entries, state)
        rows = [(entry.seq, bytes.fromhex(entry.hash), packed(entry.body)) for entry in entries]
        with self._database.writing(sum(len(entry.body) for entry in entries)) as connection:
            number = _continued(connection, entries, state)
            connection.executemany(f"INSERT INTO entry (task, seq, hash, body) VALUES ({number}, ?, ?, ?)", rows)
            archive.keep(connection, blocks)
            _stand(connection, number, state)
            if _snapshot_due(connection, number, state):
                connection.execute(
                    "INSERT OR REPLACE INTO snapshot (task, seq, body) VALUES (?, ?, ?)",
                    (number, state.head.seq, packed(dumps(state))),
                )

    def load(self, task: str) -> State:
        with self._database.reading() as connection:
            number, head = _found(connection, task)
            state = _snapshot(connection, number)
            if state:
                state = fold(state, _entries(connection, number, state.head, LONGEST_TAIL))
                if state.head == head:
                    return state
        return fold(None, self.journal(task))

    def journal(self, task: str) -> Iterator[Entry]:
        with self._database.reading() as connection:
            number, head = _found(connection, task)
        at = Head()
        while at.seq < head.seq:
            with self._database.reading() as connection:
                page = _entries(connection, number, at, min(PAGE, head.seq - at.seq))
            if not page:
                raise Damaged(
                    f"journal of {task} ends at entry {at.seq}, {head.seq} were written",
                    next="restore the database from a backup",
                    safe="the entries before that are intact",
                )
            at = Head(page[-1].seq, page[-1].hash)
            yield from page

    def read(self, block: str) -> str:
        with self._database.reading() as connection:
            return archive.read(connection, block)

    def close(self) -> None:
        self._database.close()


def _coherent(entries: Sequence[Entry], state: State) -> None:
    """Entries and state must tell one story before any of it is written."""
    if not entries or Head(entries[-1].seq, entries[-1].hash) != state.head:
        raise Broken("the state does not stand at the last of the entries that lead to it")
    before = entries[0]
    for entry in entries[1:]:
        if entry.seq != before.seq + 1 or entry.hash != chain.digest(before.hash, entry.body):
            raise Broken(f"entry {entry.seq} does not follow entry {before.seq}")
        before = entry
    if any(entry.task != state.task.id for entry in entries):
        raise Broken("one append is for one task")


def _continued(connection: Connection, entries: Sequence[Entry], state: State) -> int:
    """The task's number, made at its first entry. Conflict unless the entries go on where the journal ends."""
    task, first = state.task, entries[0]
    row = connection.execute(
        "SELECT number, seq, hash FROM task JOIN ticket ON task = number WHERE id = ?", (task.id,)
    ).fetchone()
    number, seq, before = row or (None, 0, b"")
    if first.seq != seq + 1 or first.hash != chain.digest(before.hex(), first.body):
        raise Conflict(f"the journal of {task.id} stands at entry {seq}; entry {first.seq} does not follow from it")
    if number is None:
        number = connection.execute(
            "INSERT INTO task (id, goal, type, priority, needs) VALUES (?, ?, ?, ?, ?)",
            (task.id, task.goal, task.type, task.priority, dumps(task.needs)),
        ).lastrowid
    assert number is not None
    return number


def _stand(connection: Connection, number: int, state: State) -> None:
    connection.execute(
        "INSERT INTO ticket (task, status, seq, hash) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (task) DO UPDATE SET status = excluded.status, seq = excluded.seq, hash = excluded.hash",
        (number, state.status.value, state.head.seq, bytes.fromhex(state.head.hash)),
    )


def _snapshot_due(connection: Connection, number: int, state: State) -> bool:
    """Not in the middle of a step: folding the few entries since the last one again is cheaper than writing a new one."""
    if state.pending is None:
        return True
    row = connection.execute("SELECT seq FROM snapshot WHERE task = ?", (number,)).fetchone()
    return row is None or state.head.seq - row[0] > LONGEST_TAIL


def _found(connection: Connection, task: str) -> tuple[int, Head]:
    row = connection.execute("SELECT number, seq, hash FROM task JOIN ticket ON task = number WHERE id = ?", (task,)).fetchone()
    if row is None:
        raise BadInput(f"there is no task {task!r}", next="`afresh list` shows the tasks there are")
    return row[0], Head(row[1], row[2].hex())


def _snapshot(connection: Connection, number: int) -> State | None:
    """None when it can't be believed: the journal is the truth, and can always make it again."""
    row = connection.execute(
        "SELECT snapshot.body, entry.seq, entry.hash FROM snapshot JOIN entry USING (task, seq) WHERE task = ?", (number,)
    ).fetchone()
    if row is None:
        return None
    try:
        state = loads(State, unpacked(row[0]))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return state if state.head == Head(row[1], row[2].hex()) else None


def _entries(connection: Connection, number: int, at: Head, limit: int) -> list[Entry]:
    """Entries after `at`, each checked against the one before it."""
    rows = connection.execute(
        "SELECT seq, hash, body FROM entry WHERE task = ? AND seq > ? ORDER BY seq LIMIT ?", (number, at.seq, limit)
    )
    entries: list[Entry] = []
    for _, hash, body in rows:
        entry = chain.read(_plain(body, at.seq + 1), at, hash.hex())
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
