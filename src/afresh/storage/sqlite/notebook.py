"""The project's notebook: a journal that no task owns. Whoever has something to say adds it in turn; nothing is overwritten."""

from collections.abc import Iterator, Sequence
from sqlite3 import Connection

from afresh.core import hash_chain
from afresh.core.event import Event, JournalEntry, JournalHead
from afresh.core.fact import NOTEBOOK_JOURNAL
from afresh.ports.watch import Clock
from afresh.storage.sqlite.database import Database

NOTES_PER_READ = 256


class SqliteNotebook:
    def __init__(self, database: Database, clock: Clock, name: str = NOTEBOOK_JOURNAL) -> None:
        self._database, self._clock, self.name = database, clock, name

    def append(self, events: Sequence[Event]) -> tuple[JournalEntry, ...]:
        """One durable commit after whatever stands there by now."""
        with self._database.writing() as connection:
            entries = hash_chain.link_events(self.name, _read_notebook_head(connection), self._clock.now(), events)
            insert_notes(connection, entries)
        return entries

    def head(self) -> JournalHead:
        with self._database.reading() as connection:
            return _read_notebook_head(connection)

    def entries(self, after: JournalHead = JournalHead()) -> Iterator[JournalEntry]:
        """In order, each checked against the one before it."""
        while True:
            with self._database.reading() as connection:
                page = connection.execute(
                    "SELECT hash, body FROM note WHERE seq > ? ORDER BY seq LIMIT ?", (after.seq, NOTES_PER_READ)
                ).fetchall()
            if not page:
                return
            for hash, body in page:
                entry = hash_chain.read_entry(body, after, hash.hex())
                after = JournalHead(entry.seq, entry.hash)
                yield entry


def insert_notes(connection: Connection, entries: Sequence[JournalEntry]) -> None:
    rows = [(entry.seq, bytes.fromhex(entry.hash), entry.body) for entry in entries]
    connection.executemany("INSERT INTO note (seq, hash, body) VALUES (?, ?, ?)", rows)


def _read_notebook_head(connection: Connection) -> JournalHead:
    row = connection.execute("SELECT seq, hash FROM note ORDER BY seq DESC LIMIT 1").fetchone()
    return JournalHead(row[0], row[1].hex()) if row else JournalHead()
