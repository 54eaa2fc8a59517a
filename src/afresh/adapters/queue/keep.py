"""Keeps a lease alive while its owner works."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from afresh.errors import AfreshError, LeaseLost
from afresh.ports import TaskQueue

RENEW_INTERVAL_SECONDS = 5.0


class LeaseRenewal:
    """What the owner can ask about its lease."""

    def __init__(self) -> None:
        self._why: LeaseLost | None = None
        self._over = Event()

    @property
    def lost(self) -> bool:
        return self._why is not None

    def check(self) -> None:
        """LeaseLost if another worker has the task by now."""
        if self._why:
            raise self._why

    def stop(self) -> None:
        self._over.set()

    def beat(self, queue: TaskQueue, worker: str, task: str, every: float) -> None:
        while not self._over.wait(every):
            try:
                queue.renew(worker, task)
            except LeaseLost as why:
                self._why = why
                return
            except AfreshError:
                continue  # a busy or full disk: the next beat may do better, and if not, the journal's head guards the task


@contextmanager
def renew_lease_in_background(
    queue: TaskQueue, worker: str, task: str, every: float = RENEW_INTERVAL_SECONDS
) -> Iterator[LeaseRenewal]:
    """Renew in the background until the block ends. It does not release: that is the owner's word."""
    kept = LeaseRenewal()
    thread = Thread(target=kept.beat, args=(queue, worker, task, every), name=f"lease of {task}", daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        kept.stop()
        thread.join()
