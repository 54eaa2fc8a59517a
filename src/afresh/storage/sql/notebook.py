"""The notebook of the project or the user: a journal that no task owns, and that several processes append to."""

from collections.abc import Iterator, Sequence

from afresh.core import hash_chain
from afresh.core.event import Event, JournalEntry, JournalHead
from afresh.core.fact import NOTEBOOK_JOURNAL
from afresh.errors import Conflict
from afresh.ports.watch import Clock
from afresh.storage.sql.database import SqlConnection, SqlDatabase, repeat_if_lost

NOTES_PER_READ = 256


class SqlNotebook:
    """What holds it is made when something is written; before that the notebook is empty."""

    def __init__(self, database: SqlDatabase, clock: Clock, name: str = NOTEBOOK_JOURNAL) -> None:
        self._database, self._clock, self._name = database, clock, name

    @property
    def name(self) -> str:
        return self._name

    @repeat_if_lost
    def append(self, events: Sequence[Event]) -> tuple[JournalEntry, ...]:
        with self._database.writing() as connection:
            entries = hash_chain.link_events(self.name, _read_notebook_head(connection), self._clock.now(), events)
            _insert_notes(connection, entries)
        return entries

    @repeat_if_lost
    def extend(self, entries: Sequence[JournalEntry]) -> None:
        with self._database.writing() as connection:
            head = _read_notebook_head(connection)
            for entry in entries:
                if entry.seq != head.seq + 1 or entry.hash != hash_chain.hash_entry(head.hash, entry.body):
                    raise Conflict(f"the notebook is at entry {head.seq}; entry {entry.seq} does not follow from it")
                head = JournalHead(entry.seq, entry.hash)
            _insert_notes(connection, entries)

    @repeat_if_lost
    def head(self) -> JournalHead:
        if not self._database.is_there():
            return JournalHead()
        with self._database.reading() as connection:
            return _read_notebook_head(connection)

    def entries(self, after: JournalHead = JournalHead()) -> Iterator[JournalEntry]:
        while self._database.is_there():
            page = self._read_page(after.seq)
            if not page:
                return
            for hash, body in page:
                entry = hash_chain.read_entry(body, after, hash.hex())
                after = JournalHead(entry.seq, entry.hash)
                yield entry

    @repeat_if_lost
    def _read_page(self, after: int) -> list[tuple[bytes, str]]:
        page = "SELECT hash, body FROM note WHERE seq > ? ORDER BY seq LIMIT ?"
        with self._database.reading() as connection:
            return connection.execute(page, (after, NOTES_PER_READ)).fetchall()

    def close(self) -> None:
        self._database.close()


def _insert_notes(connection: SqlConnection, entries: Sequence[JournalEntry]) -> None:
    rows = [(entry.seq, bytes.fromhex(entry.hash), entry.body) for entry in entries]
    connection.executemany("INSERT INTO note (seq, hash, body) VALUES (?, ?, ?)", rows)


def _read_notebook_head(connection: SqlConnection) -> JournalHead:
    row = connection.execute("SELECT seq, hash FROM note ORDER BY seq DESC LIMIT 1").fetchone()
    return JournalHead(row[0], row[1].hex()) if row else JournalHead()
