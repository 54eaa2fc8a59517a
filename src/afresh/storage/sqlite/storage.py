"""Opens what is kept for a project: its journal, queue, facts and notebook, and the user's ledger and notebook."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from afresh.core.fact import USER_JOURNAL
from afresh.ports.storage import Notebook, Storage
from afresh.ports.watch import Clock
from afresh.storage.sql.fact_index import SqlFactIndex
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.ledger import SqlLedger
from afresh.storage.sql.notebook import SqlNotebook
from afresh.storage.sql.queue import SqlQueue
from afresh.storage.sqlite.database import JOURNAL_FILE_NAME, LEDGER_FILE_NAME, Database
from afresh.storage.sqlite.fact_words import SqliteFactWords
from afresh.storage.sqlite.migrations import FACTS_SCHEMA, LEDGER_SCHEMA

FACTS_FILE_NAME = "memory.db"
USER_NOTEBOOK_FILE_NAME = "user.db"


def open_sqlite_storage(folder: Path, user_folder: Path, clock: Clock) -> Storage:
    """`folder`: of the project, and there; `user_folder`: made when something is written to it."""
    database = Database(folder / JOURNAL_FILE_NAME)
    journal, notebook = SqlJournal(database), SqlNotebook(database, clock)
    user_notebook = SqlNotebook(Database(user_folder / USER_NOTEBOOK_FILE_NAME), clock, USER_JOURNAL)

    @contextmanager
    def transaction() -> Iterator[None]:
        try:
            with database.writing():
                yield
        except BaseException:
            journal.forget_blocks()
            raise

    facts = open_sqlite_facts(folder / FACTS_FILE_NAME, journal, (notebook, user_notebook))
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
    )


def open_sqlite_journal(path: Path) -> SqlJournal:
    return SqlJournal(Database(path))


def open_sqlite_ledger(path: Path) -> SqlLedger:
    return SqlLedger(Database(path, schema=LEDGER_SCHEMA))


def open_sqlite_facts(path: Path, journal: SqlJournal, notebooks: Sequence[Notebook]) -> SqlFactIndex:
    return SqlFactIndex(Database(path, schema=FACTS_SCHEMA), SqliteFactWords(), journal, notebooks)
