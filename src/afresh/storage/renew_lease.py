"""Renews a worker's lease while it works, and finds out whether the process of another worker is alive."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Event, Thread, get_native_id

from afresh.errors import AfreshError, LeaseLost, StopRequested
from afresh.ports.storage import TaskQueue


def identify_worker(process: int = 0) -> str:
    """The name of a process, by default of this one: host, number and start time, so that a reused number is not taken for it."""
    process = process or os.getpid()
    return f"{_identify_host()}:{process}:{_read_start_time(process)}"


def identify_thread() -> str:
    """The name of this thread, for a worker that shares its process with others: it is dead when either has ended."""
    process, thread = os.getpid(), get_native_id()
    return f"{_identify_host()}:{process}.{thread}:{_read_start_time(process, thread)}"


def is_worker_dead(worker: str) -> bool:
    """Whether the worker's process or thread is known to have ended. What runs on another machine can't be known from here."""
    known = _parse_worker(worker)
    return known is not None and _read_start_time(*known[:2]) != known[2]


def is_worker_alive(worker: str) -> bool:
    """Whether the worker's process or thread is known to run on this machine. A stopped one runs; where start times can't be
    read, its number may be another's, so that it is not known."""
    known = _parse_worker(worker)
    return known is not None and known[2] not in (UNKNOWN_START, GONE) and _read_start_time(*known[:2]) == known[2]


def _parse_worker(worker: str) -> tuple[int, int, str] | None:
    """Process, thread (0: none) and start time of a worker of this machine; None for any other."""
    host, place, started = ["", "", *worker.rsplit(":", 2)][-3:]
    process, _, thread = place.partition(".")
    if host != _identify_host() or not process.isdigit() or not (thread or "0").isdigit():
        return None
    return int(process), int(thread or 0), started


def find_lease_holder(worker: str, expires: float, now: float) -> str:
    """The worker whose lease holds; empty if it is free. On this machine the process is asked: while it lives the lease holds,
    whatever the clock says, and when it is dead the lease is free at once. Only others are judged by time."""
    if not worker or is_worker_dead(worker):
        return ""
    return worker if expires > now or is_worker_alive(worker) else ""


UNKNOWN_START = "unknown"
GONE = "gone"


def _identify_host() -> str:
    """Machine, boot and process-number space: containers share host names, and the same number can be another process there."""
    return f"{socket.gethostname().replace(':', '-')}-{sha256(_read_process_space().encode()).hexdigest()[:6]}"


def _read_process_space() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text() + os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _read_start_time(process: int, thread: int = 0) -> str:
    """Clock ticks from boot to its start; `gone` when it no longer runs; `unknown` where there is no /proc."""
    if not Path("/proc/self/stat").exists():
        return UNKNOWN_START if _is_process_alive(process) else GONE
    try:
        fields = Path(f"/proc/{process}/task/{thread or process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return GONE
    return GONE if fields[0] in "ZX" else fields[19]


def _is_process_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


RENEW_INTERVAL_SECONDS = 5.0


class LeaseRenewal:
    """A Cancellation: it stops a worker that has lost its lease."""

    def __init__(self, queue: TaskQueue, worker: str, task: str) -> None:
        self._queue, self._worker, self._task = queue, worker, task
        self._why: LeaseLost | StopRequested | None = None
        self._over = Event()

    def check(self) -> None:
        """Renew the lease. LeaseLost if another worker has taken the task, StopRequested if a person wants it to stop."""
        self._renew()
        if self._why:
            raise self._why

    def stop(self) -> None:
        self._over.set()

    def beat(self, every: float) -> None:
        while not self._why and not self._over.wait(every):
            self._renew()

    def _renew(self) -> None:
        try:
            if request := self._queue.renew(self._worker, self._task):
                self._why = self._why or StopRequested(f"a person asked to {request.act} {self._task}", request)
        except LeaseLost as why:
            self._why = self._why or why
        except AfreshError:
            return  # a busy or full disk: the next try may succeed; until then the journal's head guards the task


@contextmanager
def renew_lease_in_background(
    queue: TaskQueue, worker: str, task: str, every: float = RENEW_INTERVAL_SECONDS
) -> Iterator[LeaseRenewal]:
    """Renew the lease in a thread until the block ends. The owner releases it."""
    kept = LeaseRenewal(queue, worker, task)
    thread = Thread(target=kept.beat, args=(every,), name=f"lease of {task}", daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        kept.stop()
        thread.join()
