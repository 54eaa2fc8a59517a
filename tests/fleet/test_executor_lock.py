"""A worker is alive while it holds its lock, and stops when it can't be sure of that."""

import time

import pytest

from afresh.errors import Cancelled, NotPossible
from afresh.fleet.executor_lock import ExecutorLock, is_worker_gone


@pytest.fixture
def lock(address: str):
    made = ExecutorLock(address, "host-1:7:99")
    made.take()
    yield made
    made.release()


def wait_until_gone(connection, name: str) -> None:
    """The server needs a moment to see that a connection was closed."""
    until = time.monotonic() + 600
    while not is_worker_gone(connection, name):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_second_worker_of_the_same_name_is_refused(lock: ExecutorLock, address: str) -> None:
    with pytest.raises(NotPossible, match="another worker is called"):
        ExecutorLock(address, lock.name).take()
    lock.check()


def test_a_worker_is_gone_when_its_connection_is(lock: ExecutorLock, connection) -> None:
    assert not is_worker_gone(connection, lock.name)
    lock.release()
    wait_until_gone(connection, lock.name)
    assert is_worker_gone(connection, lock.name), "asking takes nothing away"


def test_a_worker_whose_connection_was_ended_stops_for_good(lock: ExecutorLock, connection, monkeypatch) -> None:
    monkeypatch.setattr("afresh.fleet.executor_lock.FRESH_SECONDS", 0.0)
    lock.check()
    connection.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid != pg_backend_pid()")
    with pytest.raises(Cancelled, match="lock is lost"):
        lock.check()
    wait_until_gone(connection, lock.name)
    with pytest.raises(Cancelled):
        lock.check()
    assert lock.lost


def test_the_other_name_is_another_lock(lock: ExecutorLock, connection) -> None:
    assert is_worker_gone(connection, "host-1:7:100")
