"""The store contract, held against the product's store and against the fake that other tests use."""

from pathlib import Path

import pytest

from afresh.ports.storage import JournalStore
from afresh.storage.sqlite.storage import open_sqlite_journal
from support.fakes import MemoryStore
from support.storage_contract import StoreContract


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> JournalStore:
        self.path = tmp_path / "afresh.db"
        return open_sqlite_journal(self.path)

    def reopen(self, store: JournalStore) -> JournalStore:
        return open_sqlite_journal(self.path)


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> JournalStore:
        return MemoryStore()
