"""A lease lives as long as its keeper, and the owner learns when it is lost."""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from afresh.errors import LeaseLost, TryAgain
from afresh.storage.renew_lease import renew_lease_in_background
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.queue import SqlQueue
from afresh.storage.sqlite.database import Database
from support.fakes import FakeClock
from support.sample_journals import create_task


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def queue(tmp_path: Path, clock: FakeClock) -> SqlQueue:
    database = Database(tmp_path / "afresh.db")
    create_task(SqlJournal(database))
    return SqlQueue(database, clock)


def eventually(true: Callable[[], bool]) -> bool:
    until = time.monotonic() + 600
    while not true() and time.monotonic() < until:
        time.sleep(0.01)
    return true()


def owner(queue: SqlQueue) -> str:
    return queue.tickets()[0].owner


def test_a_kept_lease_outlives_its_first_term(queue: SqlQueue, clock: FakeClock) -> None:
    queue.claim("me")
    with renew_lease_in_background(queue, "me", "one", every=0.02) as kept:
        for _ in range(3):
            clock.move(15)
            assert eventually(lambda: expires(queue) == clock.now() + 20)
        kept.check()
        assert owner(queue) == "me"
    clock.move(25)
    assert owner(queue) == ""


def expires(queue: SqlQueue) -> float:
    with queue._database.reading() as connection:
        return connection.execute("SELECT expires FROM lease").fetchone()[0]


def test_the_owner_learns_that_its_lease_is_lost(queue: SqlQueue, clock: FakeClock) -> None:
    queue.claim("me")
    clock.move(30)
    assert queue.claim("another") == "one"
    with renew_lease_in_background(queue, "me", "one", every=60) as kept:
        for _ in range(2):
            with pytest.raises(LeaseLost, match="another worker"):
                kept.check()
    assert owner(queue) == "another"


def test_a_passing_fault_does_not_end_the_keeping(queue: SqlQueue, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    queue.claim("me")
    renew, faults = queue.renew, [TryAgain("busy"), TryAgain("busy")]

    def sometimes(worker: str, task: str) -> None:
        if faults:
            raise faults.pop()
        renew(worker, task)

    monkeypatch.setattr(queue, "renew", sometimes)
    clock.move(10)
    with renew_lease_in_background(queue, "me", "one", every=0.01):
        assert eventually(lambda: expires(queue) == clock.now() + 20)


def test_the_keeper_ends_with_the_work_even_when_that_fails(queue: SqlQueue) -> None:
    queue.claim("me")
    with pytest.raises(ZeroDivisionError), renew_lease_in_background(queue, "me", "one", every=60):
        raise ZeroDivisionError
    assert owner(queue) == "me", "releasing is the owner's word"


def test_a_neighbour_that_computes_without_a_pause_keeps_no_lease_from_being_renewed(queue: SqlQueue, clock: FakeClock) -> None:
    queue.claim("me")
    over = list[bool]()

    def compute() -> None:
        while not over:
            sum(range(1_000))

    neighbours = [Thread(target=compute) for _ in range(4)]
    for one in neighbours:
        one.start()
    try:
        with renew_lease_in_background(queue, "me", "one", every=0.01):
            for _ in range(3):
                clock.move(15)
                assert eventually(lambda: expires(queue) == clock.now() + 20)
    finally:
        over.append(True)
        for one in neighbours:
            one.join()
