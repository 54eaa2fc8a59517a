"""All contracts of storage, held against a real PostgreSQL."""

from typing import Any

import pytest

from afresh.core.fact import USER_JOURNAL
from afresh.ports.storage import JournalStore, LedgerStore, Notebook, Storage, TaskQueue
from afresh.storage.postgres.storage import open_postgres_ledger, open_project_database, open_shared_database
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.notebook import SqlNotebook
from afresh.storage.sql.queue import SqlQueue
from support.fact_index_contract import FactIndexContract
from support.fakes import FakeClock
from support.ledger_contract import LedgerContract
from support.queue_contract import QueueContract
from support.storage_contract import NotebookContract, StorageContract, StoreContract


class OnPostgres:
    @pytest.fixture(autouse=True)
    def found(self, postgres: Any) -> None:
        self.place = postgres

    @pytest.fixture
    def storage(self, found: None) -> Storage:
        return self.place.open(FakeClock())

    def reopen(self, storage: Any) -> Any:
        return self.place.open(FakeClock())

    def open_database(self):
        return open_project_database(self.place.address, self.place.project, self.place.shared)


class TestPostgresStore(OnPostgres, StoreContract):
    @pytest.fixture
    def store(self, found: None) -> JournalStore:
        return SqlJournal(self.open_database())

    def reopen(self, store: JournalStore) -> JournalStore:
        return SqlJournal(self.open_database())


class TestPostgresQueue(OnPostgres, QueueContract):
    @pytest.fixture
    def store(self, found: None) -> JournalStore:
        self.database = self.open_database()
        return SqlJournal(self.database)

    @pytest.fixture
    def queue(self, store: JournalStore, clock: FakeClock) -> TaskQueue:
        return SqlQueue(self.database, clock, lease_seconds=20)


class TestPostgresStorage(OnPostgres, StorageContract):
    pass


class TestPostgresFactIndex(OnPostgres, FactIndexContract):
    pass


class TestPostgresNotebook(OnPostgres, NotebookContract):
    @pytest.fixture
    def notebook(self, found: None) -> Notebook:
        return self.open_notebook()

    def reopen(self, notebook: Notebook) -> Notebook:
        return self.open_notebook()

    def open_notebook(self) -> Notebook:
        return SqlNotebook(open_shared_database(self.place.address, self.place.shared), FakeClock(), USER_JOURNAL)


class TestPostgresLedger(OnPostgres, LedgerContract):
    @pytest.fixture
    def ledger(self, found: None) -> LedgerStore:
        return self.open_ledger()

    def reopen(self, ledger: LedgerStore) -> LedgerStore:
        return self.open_ledger()

    def open_ledger(self) -> LedgerStore:
        return open_postgres_ledger(self.place.address, self.place.shared)
