"""A signal may come between any two lines of Python: wherever it does, it is followed, and nothing waits for itself."""

import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, cast

import pytest

from afresh.app.compose import RunTerms
from afresh.app.pool.pool_messages import WorkOrder
from afresh.app.pool.pool_worker import PoolWorker
from afresh.app.service.stop_signal import StopSignal, handle_signals
from afresh.cli import schedule
from afresh.fleet import worker_group
from afresh.fleet.worker import FleetTerms
from afresh.fleet.worker_group import WorkerGroup

LONGEST = 900
"""Seconds until a test that waits for itself is given up."""


@pytest.fixture(autouse=True)
def given_up() -> Iterator[None]:
    def fail(*_: object) -> None:
        raise AssertionError("it waits for itself")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(LONGEST)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def at_each_line(run: Callable[[], object], number: signal.Signals) -> Iterator[int]:
    """Run again and again, and send the signal before the first line, then before the second, until there are no more. Lines
    are counted while the signal has a handler."""
    nth = 1
    while was_sent_at(nth, run, number):
        yield nth
        nth += 1


def was_sent_at(nth: int, run: Callable[[], object], number: signal.Signals) -> bool:
    seen = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal seen
        if event == "line" and signal.getsignal(number) not in (signal.SIG_DFL, signal.default_int_handler):
            seen += 1
            if seen == nth:
                signal.raise_signal(number)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return seen >= nth


def test_a_loop_of_heartbeats_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "LOOP_SECONDS", 0.001)
    monkeypatch.setattr(schedule, "STOP_SECONDS", 0.001)

    def run() -> None:
        looks = iter([None, None])
        schedule.run_until_stopped(lambda: next(looks, None) if looks.__length_hint__() else give_up())

    def give_up() -> None:
        raise KeyboardInterrupt

    assert len([*at_each_line(run, signal.SIGTERM)]) > 10


class Told:
    """A process of a worker that ends when it is told to, or by itself."""

    def __init__(self) -> None:
        self.signals, self.looks = list[int](), 0

    def send_signal(self, number: int) -> None:
        self.signals.append(number)

    def poll(self) -> int | None:
        self.looks += 1
        return 0 if self.signals or self.looks > 2 else None


def test_every_worker_of_a_group_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_group, "LOOK_SECONDS", 0.001)
    started = list[Told]()

    def start(terms: FleetTerms) -> Any:
        started.append(Told())
        return started[-1]

    def run() -> None:
        started.clear()
        WorkerGroup(FleetTerms("postgresql://x", workers=2), print, start).run()

    lines = 0
    for lines in at_each_line(run, signal.SIGTERM):
        assert all(one.signals == [signal.SIGTERM] or one.looks > 2 for one in started), lines
    assert lines > 20


class Noting(PoolWorker):
    """Its threads only note what they were told."""

    def __init__(self, channel: socket.socket) -> None:
        super().__init__(cast(Any, None), RunTerms(), False, channel)
        self.noted = list[StopSignal]()

    def _carry_out(self, order: WorkOrder, stop: StopSignal) -> None:
        self.noted.append(stop)


def test_a_task_that_a_process_is_just_beginning_is_told() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        workers = list[Noting]()

        def run() -> None:
            worker = Noting(theirs)
            workers.append(worker)
            with handle_signals([signal.SIGTERM], worker._receive):
                worker._begin(WorkOrder(1))

        lines = 0
        for lines in at_each_line(run, signal.SIGTERM):
            worker = workers[-1]
            worker._threads[1][0].join(LONGEST)
            assert [stop.received for stop in worker.noted] == ["SIGTERM"], lines
        assert lines > 5
        for thread in threading.enumerate():
            if thread.name.startswith("order "):
                thread.join(LONGEST)
