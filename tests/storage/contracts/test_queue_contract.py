"""The queue contract, held against the product's queue and against the fake."""

from pathlib import Path

import pytest

from afresh.ports.storage import TaskQueue
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.queue import SqlQueue
from afresh.storage.sqlite.database import Database
from support.fakes import FakeClock, MemoryQueue, MemoryStore
from support.queue_contract import QueueContract


class TestSqliteQueue(QueueContract):
    @pytest.fixture
    def database(self, tmp_path: Path) -> Database:
        return Database(tmp_path / "afresh.db")

    @pytest.fixture
    def store(self, database: Database) -> SqlJournal:
        return SqlJournal(database)

    @pytest.fixture
    def queue(self, database: Database, clock: FakeClock) -> TaskQueue:
        return SqlQueue(database, clock, lease_seconds=20)


class TestMemoryQueue(QueueContract):
    @pytest.fixture
    def store(self) -> MemoryStore:
        return MemoryStore()

    @pytest.fixture
    def queue(self, store: MemoryStore, clock: FakeClock) -> TaskQueue:
        queue = MemoryQueue(store, clock, lease_seconds=20)
        queue.alive_by_worker = {"living": True, "dead": False}
        return queue

    @pytest.fixture
    def living_worker(self) -> str:
        return "living"

    @pytest.fixture
    def dead_worker(self) -> str:
        return "dead"
