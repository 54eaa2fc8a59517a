"""Keeps the processes of a service running: starts them, reads their lines, starts them again when they end, and stops them.

All times are monotonic: a clock that is set, or a machine that slept, changes none of them.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from threading import Lock, Thread

from afresh.app.service.stop_signal import PASSED_ON

FIRST_DELAY_SECONDS = 1.0
MAX_DELAY_SECONDS = 300.0
SETTLED_SECONDS = 30.0
"""A process that has run for so long is well again: the next delay is the first one."""
LOOK_SECONDS = 0.2
KILL_SECONDS = 15.0
"""Time between the second request to stop and the kill."""
SERVICE_NAME = "service"
WORDS_BY_CODE = {
    1: "it ended with an error",
    2: "its options or settings are wrong",
    3: "a limit or a question needs a person",
    4: "model, key, network, sandbox, git or disk can't be used",
}
"""What the exit codes of afresh mean. They name no task and no file: anybody may read them."""


class ChildPhase(StrEnum):
    RUNNING = "running"
    WAITING = "waiting"
    """It has ended; it starts again after a delay."""
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class ChildSpec:
    name: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChildStatus:
    name: str
    phase: ChildPhase = ChildPhase.WAITING
    since: float = 0.0
    """When it was started, or is started again."""
    restarts: int = 0
    delay: float = 0.0
    why: str = ""
    """Why it last ended; empty once it is well again."""


Say = Callable[[str, str], None]
"""Called with a source and a line, from any thread."""


class ServiceSupervisor:
    """Has a thread of its own, and one for each process that it reads."""

    def __init__(self, specs: Sequence[ChildSpec], root: Path, say: Say, now: Callable[[], float] = time.monotonic) -> None:
        self._specs, self._root, self._say, self._now = {spec.name: spec for spec in specs}, root, say, now
        self._statuses = {spec.name: ChildStatus(spec.name) for spec in specs}
        self._processes = dict[str, subprocess.Popen[str]]()
        self._readers = dict[str, Thread]()
        self._stops, self._told, self._kill_at = 0, 0, 0.0
        self._lock = Lock()
        self.killed = 0
        """Processes that did not end when they were asked to."""

    def list_statuses(self) -> list[ChildStatus]:
        with self._lock:
            return list(self._statuses.values())

    @property
    def is_stopping(self) -> bool:
        return self._stops > 0

    def request_stop(self) -> None:
        """The first time each process ends after its step, the second time at once. May be called by a signal."""
        self._stops += 1

    def run(self, ended: Callable[[], None]) -> Thread:
        """Run in a thread, and call `ended` there when the last process has ended after a request to stop."""

        def look_again_and_again() -> None:
            try:
                while self.look():
                    time.sleep(LOOK_SECONDS)
            finally:
                ended()

        thread = Thread(target=look_again_and_again, name="supervisor")
        thread.start()
        return thread

    def look(self) -> bool:
        """Start, reap and stop what is due. Return whether there is more to do."""
        for name, process in list(self._processes.items()):
            if process.poll() is not None:
                self._reap(name, process)
        if self.is_stopping:
            self._stop_processes()
            return bool(self._processes)
        for status in self.list_statuses():
            if status.phase is ChildPhase.WAITING and self._now() >= status.since:
                self._start(status)
            elif status.phase is ChildPhase.RUNNING and status.why and self._now() - status.since >= SETTLED_SECONDS:
                self._set(replace(status, why="", delay=0.0))
        return True

    def _start(self, status: ChildStatus) -> None:
        try:
            process = self._open(status.name)
        except OSError as fault:  # no memory, no more processes or files
            return self._start_again_later(status, f"it can't be started: {fault.strerror}")
        self._processes[status.name] = process
        reader = Thread(target=self._read_lines, args=(status.name, process), name=f"lines of {status.name}", daemon=True)
        self._readers[status.name] = reader
        reader.start()
        self._set(replace(status, phase=ChildPhase.RUNNING, since=self._now()))
        self._say(SERVICE_NAME, f"{status.name} started (process {process.pid})")

    def _open(self, name: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self._specs[name].command,
            cwd=self._root,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "1000", "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C at the terminal reaches the service alone
        )

    def _read_lines(self, name: str, process: "subprocess.Popen[str]") -> None:
        assert process.stdout
        for line in process.stdout:
            if text := line.rstrip():
                self._say(name, text)

    def _reap(self, name: str, process: "subprocess.Popen[str]") -> None:
        self._readers.pop(name).join(LOOK_SECONDS)  # a grandchild may hold the pipe open
        del self._processes[name]
        status = self._statuses[name]
        if self.is_stopping:
            self._set(replace(status, phase=ChildPhase.ENDED, why=""))
            self._say(SERVICE_NAME, f"{name} ended")
            return
        self._start_again_later(status, describe_exit(process.returncode))

    def _start_again_later(self, status: ChildStatus, why: str) -> None:
        settled = status.phase is ChildPhase.RUNNING and self._now() - status.since >= SETTLED_SECONDS
        delay = FIRST_DELAY_SECONDS if settled or not status.delay else min(2 * status.delay, MAX_DELAY_SECONDS)
        again = replace(
            status,
            phase=ChildPhase.WAITING,
            since=self._now() + delay,
            restarts=status.restarts + 1,
            delay=delay,
            why=why,
        )
        self._set(again)
        self._say(SERVICE_NAME, f"{status.name} ended: {why}; started again in {delay:.0f} s")

    def _stop_processes(self) -> None:
        for number in PASSED_ON[self._told : self._stops]:
            self._told += 1
            self._send(number)
            if number == signal.SIGTERM:
                self._say(SERVICE_NAME, "stopping: each worker ends after its step; a second signal stops at once")
            else:
                self._say(SERVICE_NAME, "stopping at once")
                self._kill_at = self._now() + KILL_SECONDS
        if self._kill_at and self._now() >= self._kill_at:
            self._kill_at, self.killed = 0.0, self.killed + len(self._processes)
            self._send(signal.SIGKILL)

    def _send(self, number: int) -> None:
        for process in self._processes.values():
            process.send_signal(number)  # does nothing if it has been reaped

    def _set(self, status: ChildStatus) -> None:
        with self._lock:
            self._statuses[status.name] = status


def describe_exit(code: int) -> str:
    if code < 0:
        return f"it was ended by {signal.Signals(-code).name}"
    return WORDS_BY_CODE.get(code, f"it ended with code {code}")
