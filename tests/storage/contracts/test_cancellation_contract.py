"""The contract of a Cancellation, held against the lease of a worker and against the signal to stop."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from afresh.app.service.stop_signal import StopSignal
from afresh.errors import BadInput, Cancelled
from afresh.runtime import Cancellation
from afresh.storage.renew_lease import LeaseRenewal
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.queue import SqlQueue
from afresh.storage.sqlite.database import Database
from support.cancellation_contract import CancellationContract
from support.fakes import FakeClock
from support.sample_journals import create_task


class TestLeaseRenewal(CancellationContract):
    @pytest.fixture
    def cancellation(self, tmp_path: Path) -> LeaseRenewal:
        database, self.clock = Database(tmp_path / "afresh.db"), FakeClock()
        create_task(SqlJournal(database))
        self.queue = SqlQueue(database, self.clock)
        self.queue.claim("me")
        return LeaseRenewal(self.queue, "me", "one")

    def cancel(self, cancellation: Cancellation) -> None:
        self.clock.move(60)
        assert self.queue.claim("another") == "one"


class TestStopSignal(CancellationContract):
    @pytest.fixture
    def cancellation(self) -> StopSignal:
        return StopSignal()

    def cancel(self, cancellation: Cancellation) -> None:
        assert isinstance(cancellation, StopSignal)
        cancellation.receive(signal.SIGTERM)


class Flag:
    """A Cancellation whose answer is up to a function of how often it was asked since it was cancelled; 0: it was not."""

    def __init__(self, answer: Callable[[int], None]) -> None:
        self.answer, self.asked, self.cancelled = answer, 0, False

    def check(self) -> None:
        self.asked += self.cancelled
        self.answer(self.asked)


def stop(error: type[Exception] = Cancelled, words: str = "stop") -> None:
    raise error(words)


BROKEN: dict[str, Callable[[int], Any]] = {
    "test_a_worker_that_may_go_on_is_not_stopped": lambda asked: stop(),
    "test_a_cancelled_worker_is_stopped_and_told_why": lambda asked: asked and stop(words=""),
    "test_a_worker_that_was_cancelled_after_a_check_is_stopped_at_the_next": lambda asked: asked and stop(BadInput),
    "test_a_cancelled_worker_stays_cancelled": lambda asked: asked == 1 and stop(),
}


class Broken(CancellationContract):
    __test__ = False

    def cancel(self, cancellation: Cancellation) -> None:
        assert isinstance(cancellation, Flag)
        cancellation.cancelled = True


@pytest.mark.parametrize("name", sorted(name for name in vars(CancellationContract) if name.startswith("test_")))
def test_a_broken_cancellation_is_noticed(name: str) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception, Cancelled, BadInput)):
        getattr(Broken(), name)(Flag(BROKEN[name]))
