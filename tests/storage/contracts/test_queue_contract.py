"""The queue contract, held against the product's queue and against the fake."""

from pathlib import Path

import pytest

from afresh.ports.storage import TaskQueue
from afresh.storage.sqlite.database import Database
from afresh.storage.sqlite.journal import SqliteJournal
from afresh.storage.sqlite.queue import SqliteQueue
from afresh.testing.fakes import FakeClock, MemoryQueue, MemoryStore
from afresh.testing.queue_contract import QueueContract


class TestSqliteQueue(QueueContract):
    @pytest.fixture
    def database(self, tmp_path: Path) -> Database:
        return Database(tmp_path / "afresh.db")

    @pytest.fixture
    def store(self, database: Database) -> SqliteJournal:
        return SqliteJournal(database)

    @pytest.fixture
    def queue(self, database: Database, clock: FakeClock) -> TaskQueue:
        return SqliteQueue(database, clock, lease_seconds=20)


class TestMemoryQueue(QueueContract):
    @pytest.fixture
    def store(self) -> MemoryStore:
        return MemoryStore()

    @pytest.fixture
    def queue(self, store: MemoryStore, clock: FakeClock) -> TaskQueue:
        return MemoryQueue(store, clock, lease_seconds=20)
