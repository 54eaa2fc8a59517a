"""The queue contract, held against the product's queue and against the fake."""

from pathlib import Path

import pytest

from afresh.ports.storage import TaskQueue
from afresh.storage import renew_lease
from afresh.storage.renew_lease import identify_worker
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


def test_a_queue_that_asks_only_the_clock_fails_the_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: it gives the task of a living process away when the clock is set forward."""

    def judge_by_time(worker: str, expires: float, now: float) -> str:
        return worker if expires > now else ""

    monkeypatch.setattr(renew_lease, "find_lease_holder", judge_by_time)
    database, clock = Database(tmp_path / "afresh.db"), FakeClock()
    parts = (SqlJournal(database), SqlQueue(database, clock, lease_seconds=20), clock)
    with pytest.raises(AssertionError):
        QueueContract().test_the_lease_of_a_process_that_lives_here_holds_whatever_the_clock_says(
            *parts, identify_worker(), 86_400
        )


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
