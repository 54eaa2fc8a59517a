"""Hold on a running bubblewrap: its limits, its end, and whether the command was ever started."""

import contextlib
import json
import os
import resource
import select
import signal
from collections.abc import Iterator, Sequence

from afresh.adapters.sandbox.process import RunningCommand
from afresh.errors import NoSandbox, TryAgain

_KILL_TIMEOUT_SECONDS = 60.0


class BubblewrapDescriptors:
    """Pipes and files given to bubblewrap, all closed at the end."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self._open.update(ends)
        return ends

    def file(self, content: bytes) -> int:
        descriptor = os.memfd_create("afresh")
        self._open.add(descriptor)
        os.write(descriptor, content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    def keep(self, descriptor: int) -> int:
        self._open.add(descriptor)
        return descriptor

    def close(self, *descriptors: int) -> None:
        for descriptor in descriptors or tuple(self._open):
            self._open.discard(descriptor)
            os.close(descriptor)


class BubblewrapNamespace:
    """Known by its first process: when that is gone, the kernel has ended all others in it."""

    def __init__(self, running: RunningCommand, status: int, descriptors: BubblewrapDescriptors) -> None:
        self._running, self._status = running, status
        self._process = _read_first_process(status)
        self._handle: int | None = None
        with contextlib.suppress(ProcessLookupError):
            self._handle = descriptors.keep(os.pidfd_open(self._process)) if self._process else None

    def limit(self, limits: Sequence[tuple[int, int]]) -> None:
        """Called while the process still waits at its gate, so that the command starts with them."""
        try:
            for name, value in limits if self._handle is not None else ():
                resource.prlimit(self._process, name, (value, value))
        except OSError as problem:
            raise NoSandbox(f"resource limits can't be set: {problem}", "run `afresh doctor` to see what holds") from problem

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self._handle is not None:
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        self._running.child.kill()
        if self._handle is not None and not select.select([self._handle], [], [], _KILL_TIMEOUT_SECONDS)[0]:
            raise TryAgain("processes of a command are stuck in the kernel and could not be killed")

    def ran(self) -> bool:
        """bubblewrap reports an exit code only if the command was started."""
        os.set_blocking(self._status, False)
        with contextlib.suppress(BlockingIOError):
            return b"exit-code" in os.read(self._status, 4096)
        return False


def _read_first_process(status: int) -> int:
    """As bubblewrap reports it in its first line; 0 if it ended before."""
    line = b"".join(_read_line_bytes(status))
    return int(json.loads(line)["child-pid"]) if line.strip() else 0


def _read_line_bytes(descriptor: int) -> Iterator[bytes]:
    while byte := os.read(descriptor, 1):
        yield byte
        if byte == b"\n":
            return
