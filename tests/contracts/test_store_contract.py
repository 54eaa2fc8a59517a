"""The store contract, held against the product's store and against the fake that other tests use."""

from pathlib import Path

import pytest

from afresh.adapters.store.sqlite import SqliteStore
from afresh.ports import Store
from afresh.testing.memory import MemoryStore
from afresh.testing.store_contract import StoreContract


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        self.path = tmp_path / "afresh.db"
        return SqliteStore(self.path)

    def reopen(self, store: Store) -> Store:
        return SqliteStore(self.path)


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()
