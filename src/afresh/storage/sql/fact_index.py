"""What a project knows, across its tasks: the facts of all its journals in one index. The index is a projection: whatever is
wrong with it, it is made again."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from heapq import merge
from typing import Any, TypeVar

from afresh.core.event import JournalEntry, JournalHead
from afresh.core.fact import FactScope
from afresh.core.progress_event import ProgressEvent
from afresh.core.project_facts import FactCorrection, FactQuery, ProjectFact
from afresh.core.search_words import drop_stop_words
from afresh.core.state import State
from afresh.errors import AfreshError, Damaged
from afresh.ports.storage import Notebook
from afresh.storage.sql import fact_words, facts
from afresh.storage.sql.database import JournalChange, SqlConnection, SqlDatabase, repeat_if_lost
from afresh.storage.sql.fact_words import FACT_COLUMNS, fold_words
from afresh.storage.sql.facts import fact_from_row
from afresh.storage.sql.journal import SqlJournal

MAX_FACTS_SEARCHED_DIRECTLY = 20_000
"""Up to this many facts, counting how common the words are costs more than it saves."""
COMMON_TERM_FACTS = 20_000
MAX_READ_POSTINGS = 60_000
"""A word in more facts than this is not used for ranking; and the most index entries that are read for one search."""
MAX_SEARCH_TERMS = 24
MAX_RECENT_FACTS = 200


def search_facts(connection: SqlConnection, question: FactQuery) -> list[ProjectFact]:
    """Best first. If every word is common, the newest facts that hold one of them, best first."""
    terms = list(dict.fromkeys(drop_stop_words(fold_words(question.text))))[:MAX_SEARCH_TERMS]
    if not terms:
        return list_newest_facts(connection, question)
    (size,) = connection.execute("SELECT max(number) FROM fact").fetchone()
    rare = terms if (size or 0) <= MAX_FACTS_SEARCHED_DIRECTLY else choose_rarest_terms(connection, terms)
    if rare:
        return search_ranked_facts(connection, question, rare)
    return search_recent_facts(connection, question, terms)


def search_ranked_facts(connection: SqlConnection, question: FactQuery, terms: list[str]) -> list[ProjectFact]:
    where, given = build_conditions(question)
    return [fact_from_row(row) for row in fact_words.rank_facts(connection, terms, where, given, question.limit)]


def search_recent_facts(connection: SqlConnection, question: FactQuery, terms: list[str]) -> list[ProjectFact]:
    numbers = fact_words.find_newest(connection, terms, MAX_RECENT_FACTS)
    if not numbers:
        return []
    where, given = build_conditions(question)
    rows = connection.execute(
        f"SELECT {FACT_COLUMNS} FROM fact WHERE number IN ({', '.join('?' * len(numbers))}){where} ORDER BY number DESC",
        (*numbers, *given),
    )
    found, wanted = [fact_from_row(row) for row in rows], set(terms)
    hits = [(len(wanted.intersection(fold_words(f"{one.fact.subject} {one.fact.text}"))), one) for one in found]
    return [one for _, one in sorted(hits, key=lambda hit: -hit[0])[: question.limit]]


def list_newest_facts(connection: SqlConnection, question: FactQuery) -> list[ProjectFact]:
    where, given = build_conditions(question)
    rows = connection.execute(
        f"SELECT {FACT_COLUMNS} FROM fact WHERE ended = 0{where} ORDER BY number DESC LIMIT ?", (*given, question.limit)
    )
    return [fact_from_row(row) for row in rows]


def build_conditions(question: FactQuery) -> tuple[str, tuple[str, ...]]:
    """A task sees its own facts, and what is its project's or the user's."""
    where, given = "", ()
    if question.kinds:
        where += f" AND kind IN ({', '.join('?' * len(question.kinds))})"
        given += tuple(question.kinds)
    if question.own:
        where += " AND task = ?"
        given += (question.task,)
    elif question.task:
        where += " AND (task = ? OR scope <> ?)"
        given += (question.task, FactScope.TASK)
    return where, given


def choose_rarest_terms(connection: SqlConnection, terms: list[str]) -> list[str]:
    """The rarest terms, as many as can be ranked without reading too many entries."""
    taken, left = list[str](), MAX_READ_POSTINGS
    for count, term in sorted((fact_words.count_facts(connection, term, COMMON_TERM_FACTS), term) for term in terms):
        left -= count
        if count < COMMON_TERM_FACTS and left >= 0:
            taken.append(term)
    return taken


BATCH_ENTRIES = 500
NAMES_PER_READ = 500
ALL_JOURNALS = ""
"""In the place of a task's id: up to which change all journals were read, and the identity of their database."""
T = TypeVar("T")


class SqlFactIndex:
    """Also a Watcher: it learns from every commit. What it can't learn at once it reads before the next question; an index that
    is damaged is rebuilt. The caller gets an error only if that fails, for example because the disk is full."""

    def __init__(self, database: SqlDatabase, store: SqlJournal, notebooks: Sequence[Notebook]) -> None:
        self._database, self._store, self._notebooks = database, store, notebooks
        self._current = False

    def look_up(self, question: FactQuery) -> Sequence[ProjectFact]:
        return self._asked(lambda connection: search_facts(connection, question))

    def edits(self) -> Sequence[FactCorrection]:
        return self._asked(facts.list_edits)

    def known(self, name: str) -> Sequence[ProjectFact]:
        """All facts that ever had this id."""
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

    def follow(self, event: ProgressEvent) -> None:
        """Progress is ignored: facts come from commits."""

    def close(self) -> None:
        self._database.close()

    def rebuild(self) -> None:
        """Forget the index and learn everything again, in the order in which it happened."""
        self._database.keep_changes()
        self._learn_anew()

    def _learn_anew(self) -> None:
        self._current = False
        self._database.discard()
        self._catch_up()

    def list_rows(self) -> list[tuple[Any, ...]]:
        """Every fact that was ever known, without its number, to compare two indexes."""
        return self._asked(lambda connection: [tuple(row[1:]) for row in connection.execute("SELECT * FROM fact")])

    @repeat_if_lost
    def _asked(self, ask: Callable[[SqlConnection], T]) -> T:
        try:
            self._catch_up()
            with self._database.reading() as connection:
                return ask(connection)
        except Damaged:
            self._learn_anew()
            with self._database.reading() as connection:
                return ask(connection)

    def _catch_up(self) -> None:
        """Read what was written while nobody looked: before the first question what has changed in the journals, later the
        notebooks, which others may write to."""
        books, last = self._notebooks, None if self._current else self._store.read_last_change()
        since = self._find_change(last) if last else 0
        tasks = {} if self._current else self._store.heads(since)
        seen = self._seen([*tasks, *[book.name for book in books]] if self._current or since else ())
        heads = tasks | {book.name: book.head() for book in books}
        if any(is_other_journal(head, heads.get(name, JournalHead())) for name, head in seen.items()):
            return self._learn_anew()
        streams = [
            self._store.journal(task, seen.get(task, JournalHead())) for task, head in tasks.items() if head != seen.get(task)
        ]
        streams += [book.entries(seen.get(book.name, JournalHead())) for book in books]
        for batch in split_into_batches(merge(*streams, key=lambda entry: entry.at)):
            with self._database.writing() as connection:
                for entry in batch:
                    facts.learn_entries(connection, [entry])
        if last and last.number > since:
            with self._database.writing() as connection:
                connection.execute(facts.WRITE_SEEN_SQL, (ALL_JOURNALS, last.number, last.identity))
        self._current = True

    def _find_change(self, last: JournalChange) -> int:
        """Up to which change all journals were read; 0: that is not known."""
        seen = self._seen([ALL_JOURNALS]).get(ALL_JOURNALS, JournalHead())
        return seen.seq if seen.hash == last.identity != "" and seen.seq <= last.number else 0

    def _seen(self, names: Sequence[str]) -> dict[str, JournalHead]:
        """How far these journals were read; without names all."""
        with self._database.reading() as connection:
            if not names:
                return _heads_from_rows(connection.execute("SELECT task, seq, hash FROM seen WHERE task <> ?", (ALL_JOURNALS,)))
            found = dict[str, JournalHead]()
            for start in range(0, len(names), NAMES_PER_READ):
                some = names[start : start + NAMES_PER_READ]
                where = f"WHERE task IN ({', '.join('?' * len(some))})"
                found |= _heads_from_rows(connection.execute(f"SELECT task, seq, hash FROM seen {where}", tuple(some)))
            return found


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
