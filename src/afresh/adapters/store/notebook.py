"""The project's notebook: a journal that no task owns. Whoever has something to say adds it in turn; nothing is overwritten."""

from collections.abc import Iterator, Sequence
from sqlite3 import Connection

from afresh.adapters.store.database import Database
from afresh.domain import chain
from afresh.domain.event import Entry, Event, Head
from afresh.domain.notes import NOTEBOOK
from afresh.ports import Clock

PAGE = 256


class SqliteNotebook:
    def __init__(self, database: Database, clock: Clock, name: str = NOTEBOOK) -> None:
        self._database, self._clock, self.name = database, clock, name

    def append(self, events: Sequence[Event]) -> tuple[Entry, ...]:
        """One durable commit after whatever stands there by now."""
        with self._database.writing() as connection:
            entries = chain.link(self.name, _head(connection), self._clock.now(), events)
            add(connection, entries)
        return entries

    def head(self) -> Head:
        with self._database.reading() as connection:
            return _head(connection)

    def entries(self, after: Head = Head()) -> Iterator[Entry]:
        """In order, each checked against the one before it."""
        while True:
            with self._database.reading() as connection:
                page = connection.execute(
                    "SELECT hash, body FROM note WHERE seq > ? ORDER BY seq LIMIT ?", (after.seq, PAGE)
                ).fetchall()
            if not page:
                return
            for hash, body in page:
                entry = chain.read(body, after, hash.hex())
                after = Head(entry.seq, entry.hash)
                yield entry


def add(connection: Connection, entries: Sequence[Entry]) -> None:
    rows = [(entry.seq, bytes.fromhex(entry.hash), entry.body) for entry in entries]
    connection.executemany("INSERT INTO note (seq, hash, body) VALUES (?, ?, ?)", rows)


def _head(connection: Connection) -> Head:
    row = connection.execute("SELECT seq, hash FROM note ORDER BY seq DESC LIMIT 1").fetchone()
    return Head(row[0], row[1].hex()) if row else Head()
