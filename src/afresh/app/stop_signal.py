"""Stops a worker by a signal, or because the pool that started it has died: after its step, or at once by a second signal."""

import os
import signal
from collections.abc import Sequence
from types import FrameType

from afresh.core.event import JournalEntry, ReplyReceived, StepFinished
from afresh.core.progress_event import ProgressEvent
from afresh.core.state import State
from afresh.errors import Cancelled

STOP_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class StopSignal:
    """A Cancellation and a Watcher. The first signal stops the run before its next call, so that a reply that has come is carried
    out and checked; the second stops at once. `parent`: the process whose end counts as a signal; 0: none."""

    def __init__(self, parent: int = 0) -> None:
        self.received, self._parent = "", parent
        self._in_step = False
        self._before = dict[signal.Signals, object]()

    def check(self) -> None:
        if self._parent and os.getppid() != self._parent:
            self.received = self.received or "the end of the process that started it"
        if self.received and not self._in_step:
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
        """Do nothing: only commits begin and end a step."""

    def __enter__(self) -> "StopSignal":
        heard = [one for one in STOP_SIGNALS if signal.getsignal(one) is not signal.SIG_IGN]  # nohup wants SIGHUP ignored
        self._before = {one: signal.signal(one, self.receive) for one in heard}
        return self

    def __exit__(self, *_: object) -> None:
        for one, before in self._before.items():
            signal.signal(one, before)  # pyright: ignore[reportArgumentType]
