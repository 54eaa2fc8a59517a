"""Opens what is kept for a project: its journal, queue, facts and notebook, and the user's ledger and notebook."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from afresh.core.fact import USER_JOURNAL
from afresh.ports.storage import Storage
from afresh.ports.watch import Clock
from afresh.storage.sqlite.database import JOURNAL_FILE_NAME, LEDGER_FILE_NAME, Database
from afresh.storage.sqlite.fact_index import SqliteFactIndex
from afresh.storage.sqlite.journal import SqliteJournal
from afresh.storage.sqlite.ledger import SqliteLedger
from afresh.storage.sqlite.notebook import SqliteNotebook
from afresh.storage.sqlite.queue import SqliteQueue

FACTS_FILE_NAME = "memory.db"
USER_NOTEBOOK_FILE_NAME = "user.db"


def open_sqlite_storage(folder: Path, user_folder: Path, clock: Clock) -> Storage:
    """`folder`: of the project, and there; `user_folder`: made when something is written to it."""
    database = Database(folder / JOURNAL_FILE_NAME)
    journal, notebook = SqliteJournal(database), SqliteNotebook(database, clock)
    user_notebook = SqliteNotebook(Database(user_folder / USER_NOTEBOOK_FILE_NAME), clock, USER_JOURNAL)

    @contextmanager
    def transaction() -> Iterator[None]:
        try:
            with database.writing():
                yield
        except BaseException:
            journal.forget_blocks()
            raise

    facts = SqliteFactIndex(folder / FACTS_FILE_NAME, journal, (notebook, user_notebook))
    ledger = open_sqlite_ledger(user_folder)

    def close() -> None:
        for one in (journal, facts, user_notebook, ledger):
            one.close()

    return Storage(
        journal=journal,
        queue=SqliteQueue(database, clock),
        facts=facts,
        notebook=notebook,
        user_notebook=user_notebook,
        ledger=ledger,
        transaction=transaction,
        close=close,
    )


def open_sqlite_ledger(user_folder: Path) -> SqliteLedger:
    return SqliteLedger(user_folder / LEDGER_FILE_NAME)
