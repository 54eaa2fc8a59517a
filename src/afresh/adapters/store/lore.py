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
from afresh.adapters.store.look_up import look_up
from afresh.adapters.store.notebook import SqliteNotebook
from afresh.adapters.store.sqlite import SqliteStore
from afresh.domain.event import Entry, Head
from afresh.domain.known import Edit, Known, Question
from afresh.domain.state import State
from afresh.errors import AfreshError, Damaged

BATCH = 500
T = TypeVar("T")


class SqliteLore:
    """Also a Watcher: it learns from every commit. What it can't learn at once it reads before the next question; an index that
    is damaged is made again, and only what keeps that from being done, a full disk say, reaches whoever asks."""

    def __init__(self, path: Path, store: SqliteStore, notebooks: Callable[[], Sequence[SqliteNotebook]]) -> None:
        self._database = Database(path, schema=facts.FACTS)
        self._store, self._notebooks = store, notebooks
        self._current = False

    def look_up(self, question: Question) -> Sequence[Known]:
        return self._asked(lambda connection: look_up(connection, question))

    def edits(self) -> Sequence[Edit]:
        return self._asked(facts.edits)

    def known(self, name: str) -> Sequence[Known]:
        """By id or the beginning of one."""
        return self._asked(lambda connection: [one for _, one in facts.named(connection, name)])

    def history(self, known: Known) -> Sequence[Known]:
        """All that was ever known about the same, oldest first."""
        return self._asked(lambda connection: facts.about(connection, known.task, known.fact.kind, known.fact.subject))

    def saw(self, state: State, entries: Sequence[Entry]) -> None:
        if self._current:
            self._current = False
            with suppress(AfreshError), self._database.writing() as connection:
                self._current = facts.learn(connection, entries)

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
        if any(other(head, heads.get(name, Head())) for name, head in seen.items()):
            return self.rebuild()
        streams = [self._store.journal(task, seen.get(task, Head())) for task, head in tasks.items() if head != seen.get(task)]
        streams += [book.entries(seen.get(book.name, Head())) for book in books]
        for batch in batches(merge(*streams, key=lambda entry: entry.at)):
            with self._database.writing() as connection:
                for entry in batch:
                    facts.learn(connection, [entry])
        self._current = True

    def _seen(self, names: Sequence[str]) -> dict[str, Head]:
        """How far these journals were read; without names all."""
        where = f" WHERE task IN ({', '.join('?' * len(names))})" if names else ""
        with self._database.reading() as connection:
            return _heads(connection.execute(f"SELECT task, seq, hash FROM seen{where}", tuple(names)))


def _heads(rows: Iterable[tuple[str, int, str]]) -> dict[str, Head]:
    return {task: Head(seq, hash) for task, seq, hash in rows}


def other(seen: Head, head: Head) -> bool:
    """The journal is not the one that was read: it is gone, shorter, or another."""
    return head.seq < seen.seq or (head.seq == seen.seq and head.hash != seen.hash)


def batches(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    for entry in entries:
        batch.append(entry)
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
