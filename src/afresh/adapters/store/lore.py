"""What a project knows, across its tasks: the facts of all its journals in one index. The index is a projection: whatever is
wrong with it, it is made again."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from heapq import merge
from pathlib import Path
from sqlite3 import Connection
from typing import TypeVar

from afresh.adapters.store import facts
from afresh.adapters.store.database import Database
from afresh.adapters.store.look_up import search_facts
from afresh.adapters.store.notebook import SqliteNotebook
from afresh.adapters.store.sqlite import SqliteJournal
from afresh.domain.event import JournalEntry, JournalHead
from afresh.domain.known import FactCorrection, ProjectFact, FactQuery
from afresh.domain.state import State
from afresh.errors import AfreshError, Damaged

BATCH_ENTRIES = 500
T = TypeVar("T")


class SqliteFactIndex:
    """Also a Watcher: it learns from every commit. What it can't learn at once it reads before the next question; an index that
    is damaged is made again, and only what keeps that from being done, a full disk say, reaches whoever asks."""

    def __init__(self, path: Path, store: SqliteJournal, notebooks: Callable[[], Sequence[SqliteNotebook]]) -> None:
        self._database = Database(path, schema=facts.FACTS_SCHEMA)
        self._store, self._notebooks = store, notebooks
        self._current = False

    def look_up(self, question: FactQuery) -> Sequence[ProjectFact]:
        return self._asked(lambda connection: search_facts(connection, question))

    def edits(self) -> Sequence[FactCorrection]:
        return self._asked(facts.list_edits)

    def known(self, name: str) -> Sequence[ProjectFact]:
        """By id or the beginning of one."""
        return self._asked(lambda connection: [one for _, one in facts.find_facts_by_id(connection, name)])

    def history(self, known: ProjectFact) -> Sequence[ProjectFact]:
        """All that was ever known about the same, oldest first."""
        return self._asked(
            lambda connection: facts.list_fact_history(connection, known.task, known.fact.kind, known.fact.subject)
        )

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        if self._current:
            self._current = False
            with suppress(AfreshError), self._database.writing() as connection:
                self._current = facts.learn_entries(connection, entries)

    def doing(self, what: str) -> None:
        """Only what has happened is learnt."""

    def close(self) -> None:
        self._database.close()

    def rebuild(self) -> None:
        """Forget the index and learn everything again, in the order in which it happened."""
        self._current = False
        self._database.close()
        for suffix in ("", "-wal", "-shm"):
            self._database.path.with_name(self._database.path.name + suffix).unlink(missing_ok=True)
        self._catch_up()

    def _asked(self, ask: Callable[[Connection], T]) -> T:
        try:
            self._catch_up()
            with self._database.reading() as connection:
                return ask(connection)
        except Damaged:
            self.rebuild()
            with self._database.reading() as connection:
                return ask(connection)

    def _catch_up(self) -> None:
        """Read what was written while nobody looked: before the first question all journals, later the notebooks, which
        others may write to."""
        books = self._notebooks()
        seen = self._seen([book.name for book in books] if self._current else ())
        tasks = {} if self._current else self._store.heads()
        heads = tasks | {book.name: book.head() for book in books}
        if any(is_other_journal(head, heads.get(name, JournalHead())) for name, head in seen.items()):
            return self.rebuild()
        streams = [
            self._store.journal(task, seen.get(task, JournalHead())) for task, head in tasks.items() if head != seen.get(task)
        ]
        streams += [book.entries(seen.get(book.name, JournalHead())) for book in books]
        for batch in split_into_batches(merge(*streams, key=lambda entry: entry.at)):
            with self._database.writing() as connection:
                for entry in batch:
                    facts.learn_entries(connection, [entry])
        self._current = True

    def _seen(self, names: Sequence[str]) -> dict[str, JournalHead]:
        """How far these journals were read; without names all."""
        where = f" WHERE task IN ({', '.join('?' * len(names))})" if names else ""
        with self._database.reading() as connection:
            return _heads_from_rows(connection.execute(f"SELECT task, seq, hash FROM seen{where}", tuple(names)))


def _heads_from_rows(rows: Iterable[tuple[str, int, str]]) -> dict[str, JournalHead]:
    return {task: JournalHead(seq, hash) for task, seq, hash in rows}


def is_other_journal(seen: JournalHead, head: JournalHead) -> bool:
    """The journal is not the one that was read: it is gone, shorter, or another."""
    return head.seq < seen.seq or (head.seq == seen.seq and head.hash != seen.hash)


def split_into_batches(entries: Iterator[JournalEntry]) -> Iterator[list[JournalEntry]]:
    batch: list[JournalEntry] = []
    for entry in entries:
        batch.append(entry)
        if len(batch) >= BATCH_ENTRIES:
            yield batch
            batch = []
    if batch:
        yield batch
