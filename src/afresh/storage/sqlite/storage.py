"""Opens what is kept for a project: its journal, queue, facts and notebook, and the user's ledger and notebook."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from afresh.core.archived_block import Block
from afresh.core.event import Event, JournalEntry
from afresh.core.fact import USER_JOURNAL
from afresh.core.state import State
from afresh.ports.storage import Notebook, Storage
from afresh.ports.watch import Clock
from afresh.storage.export.journal_copy import JournalCopy
from afresh.storage.export.manifest import COPY_FOLDER
from afresh.storage.sql.fact_index import SqlFactIndex
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.ledger import SqlLedger
from afresh.storage.sql.notebook import SqlNotebook
from afresh.storage.sql.queue import SqlQueue
from afresh.storage.sql.schema import FACTS_SCHEMA, JOURNAL_FILE_NAME, LEDGER_FILE_NAME, LEDGER_SCHEMA
from afresh.storage.sqlite.database import Database

FACTS_FILE_NAME = "memory.db"
USER_NOTEBOOK_FILE_NAME = "user.db"


def open_sqlite_storage(
    folder: Path,
    user_folder: Path,
    clock: Clock,
    warn: Callable[[str], None] | None = None,
    make_folder: Callable[[], object] | None = None,
) -> Storage:
    """`folder`: of the project, made by `make_folder` when something is written to it, as `user_folder` is. `warn`: shows what is
    wrong with the copy that is written with every commit; without it there is none."""
    database = Database(folder / JOURNAL_FILE_NAME, make_folder=make_folder)
    journal, notebook = SqlJournal(database), SqlNotebook(database, clock)
    copy = None
    if warn:
        copy = JournalCopy(folder / COPY_FOLDER, journal, notebook, warn)
        journal, notebook = CopiedJournal(database, copy), CopiedNotebook(database, clock, copy)
    user_notebook = SqlNotebook(Database(user_folder / USER_NOTEBOOK_FILE_NAME), clock, USER_JOURNAL)

    @contextmanager
    def transaction() -> Iterator[None]:
        try:
            with database.writing():
                yield
        except BaseException:
            journal.forget_blocks()
            raise

    index = Database(folder / FACTS_FILE_NAME, schema=FACTS_SCHEMA, is_kept=lambda: database.has_written)
    facts = SqlFactIndex(index, journal, (notebook, user_notebook))
    ledger = open_sqlite_ledger(user_folder / LEDGER_FILE_NAME)

    def close() -> None:
        for one in (journal, facts, user_notebook, ledger):
            one.close()

    return Storage(
        journal=journal,
        queue=SqlQueue(database, clock),
        facts=facts,
        notebook=notebook,
        user_notebook=user_notebook,
        ledger=ledger,
        transaction=transaction,
        close=close,
        copy=copy,
    )


class CopiedJournal(SqlJournal):
    """Whoever commits, the copy follows."""

    def __init__(self, database: Database, copy: JournalCopy) -> None:
        super().__init__(database)
        self._after_commit, self._copy = database.after_commit, copy

    def append(self, entries: Sequence[JournalEntry], blocks: Sequence[Block], state: State) -> None:
        super().append(entries, blocks, state)
        self._after_commit(lambda: self._copy.add_entries(entries, blocks))


class CopiedNotebook(SqlNotebook):
    def __init__(self, database: Database, clock: Clock, copy: JournalCopy) -> None:
        super().__init__(database, clock)
        self._after_commit, self._copy = database.after_commit, copy

    def append(self, events: Sequence[Event]) -> tuple[JournalEntry, ...]:
        entries = super().append(events)
        self._after_commit(self._copy.add_notes)
        return entries

    def extend(self, entries: Sequence[JournalEntry]) -> None:
        super().extend(entries)
        self._after_commit(self._copy.add_notes)


def open_sqlite_journal(path: Path) -> SqlJournal:
    return SqlJournal(Database(path))


def open_sqlite_ledger(path: Path) -> SqlLedger:
    return SqlLedger(Database(path, schema=LEDGER_SCHEMA))


def open_sqlite_facts(path: Path, journal: SqlJournal, notebooks: Sequence[Notebook]) -> SqlFactIndex:
    return SqlFactIndex(Database(path, schema=FACTS_SCHEMA), journal, notebooks)
