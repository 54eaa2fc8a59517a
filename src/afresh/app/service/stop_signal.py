"""Stops a worker by a signal: after its step, or at once by a second signal.

A handler takes no lock, also not that of an `Event`: it would wait for the code that it has interrupted.
"""

import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from types import FrameType

from afresh.core.event import JournalEntry, ReplyReceived, StepFinished
from afresh.core.progress_event import CallBegan, CallEnded, ProgressEvent
from afresh.core.state import State
from afresh.errors import Cancelled

STOP_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
ALL_SIGNALS = (*STOP_SIGNALS, signal.SIGINT)
"""Signals with which a person or a service manager stops several workers."""
PASSED_ON = (signal.SIGTERM, signal.SIGINT)
"""What processes of ours are sent at the first request to stop, after the step, and at the second, at once. The kernel makes one
of two equal signals that come soon after each other."""


@contextmanager
def handle_signals(signals: Sequence[signal.Signals], receive: Callable[[int, FrameType | None], object]) -> Generator[None]:
    """Call `receive` for each of these signals. What is ignored stays ignored: nohup wants that of SIGHUP."""
    heard = [one for one in signals if signal.getsignal(one) is not signal.SIG_IGN]
    before = [(one, signal.signal(one, receive)) for one in heard]
    try:
        yield
    finally:
        for one, handler in before:
            signal.signal(one, handler)


class StopSignal:
    """A Cancellation and a Watcher. The first signal stops the run before its next call, so that a reply that has come is carried
    out and checked; the second stops at once. `received`: what asked it to stop; empty: nothing has."""

    def __init__(self, received: str = "") -> None:
        self.received = received
        self._in_step, self._calls = False, False
        self._handling = handle_signals(STOP_SIGNALS, self.receive)

    def check(self) -> None:
        if self.received and (self._calls or not self._in_step):
            raise Cancelled(f"stopped by {self.received}")

    def receive(self, number: int, frame: FrameType | None = None) -> None:
        if self.received:
            raise KeyboardInterrupt
        self.received = signal.Signals(number).name

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        for entry in entries:
            if isinstance(entry.event, ReplyReceived | StepFinished):
                self._in_step = isinstance(entry.event, ReplyReceived)

    def follow(self, event: ProgressEvent) -> None:
        """A step may wait for a reply, of a part of its task: who asks meanwhile can do without it."""
        if isinstance(event, CallBegan | CallEnded):
            self._calls = isinstance(event, CallBegan)

    def __enter__(self) -> "StopSignal":
        self._handling.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._handling.__exit__(None, None, None)
