"""Stops a worker by a signal: after its step, or at once by a second signal."""

import signal
from collections.abc import Sequence
from types import FrameType

from afresh.core.event import JournalEntry, ReplyReceived, StepFinished
from afresh.core.progress_event import CallBegan, CallEnded, ProgressEvent
from afresh.core.state import State
from afresh.errors import Cancelled

STOP_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class StopSignal:
    """A Cancellation and a Watcher. The first signal stops the run before its next call, so that a reply that has come is carried
    out and checked; the second stops at once. `received`: what asked it to stop; empty: nothing has."""

    def __init__(self, received: str = "") -> None:
        self.received = received
        self._in_step, self._calls = False, False
        self._before = dict[signal.Signals, object]()

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
        heard = [one for one in STOP_SIGNALS if signal.getsignal(one) is not signal.SIG_IGN]  # nohup wants SIGHUP ignored
        self._before = {one: signal.signal(one, self.receive) for one in heard}
        return self

    def __exit__(self, *_: object) -> None:
        for one, before in self._before.items():
            signal.signal(one, before)  # pyright: ignore[reportArgumentType]
