"""How long a thread waits for a storage that went away, for example a server that restarts."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_waits = ContextVar("waits", default=True)


def may_wait_for_storage() -> bool:
    return _waits.get()


@contextmanager
def fail_at_once() -> Generator[None]:
    """Raise at once if the storage is away: somebody waits for an answer, or asks again later anyway. A step of a task would
    rather wait than lose its work."""
    before = _waits.set(False)
    try:
        yield
    finally:
        _waits.reset(before)
