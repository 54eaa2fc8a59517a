"""Running a child to its end: time-out, output cap, and a watch over all that it starts."""

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from afresh.adapters.sandbox.family import family
from afresh.adapters.sandbox.mounts import Limits
from afresh.adapters.sandbox.output import Output
from afresh.domain.action import Completed

TIMED_OUT = 124
STOPPED = 137
_LOOK_EVERY = 0.25


@dataclass(frozen=True, slots=True)
class Running:
    """A child and the pipe that its stdout and stderr share."""

    child: subprocess.Popen[bytes]
    pipe: int
    began: float


def start(argv: Sequence[str], environment: Mapping[str, str], folder: Path, descriptors: Sequence[int] = ()) -> Running:
    """Start a child in a session of its own, without a terminal, with only these descriptors."""
    reading, writing = os.pipe()
    try:
        os.set_blocking(reading, False)
        child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
            env=dict(environment),
            cwd=folder,
            pass_fds=descriptors,
            start_new_session=True,
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return Running(child, reading, time.monotonic())


@contextlib.contextmanager
def ended_on_error(running: Running) -> Iterator[None]:
    """A child whose confinement could not be completed does not go on."""
    try:
        yield
    except BaseException:
        running.child.kill()
        running.child.wait()
        raise


def finish(running: Running, command: str, timeout: float, limits: Limits, stop: Callable[[], None]) -> Completed:
    """Follow the child until it ends or must be ended. `stop` returns when nothing that it started is left."""
    output = Output(limits.output)
    why = ""
    try:
        try:
            why = _follow(running, output, running.began + timeout, limits)
        finally:
            stop()
            running.child.wait()
        _drain(running.pipe, output)
    finally:
        os.close(running.pipe)
    seconds = time.monotonic() - running.began
    code = running.child.returncode
    if why == "time":
        text = f"{output.text()}\n[afresh: stopped after {timeout:g} seconds]\n"
        return Completed(command, TIMED_OUT, text, seconds, timed_out=True)
    if why:
        return Completed(command, STOPPED, f"{output.text()}\n[afresh: stopped: {why}]\n", seconds)
    return Completed(command, code if code >= 0 else 128 - code, output.text(), seconds)


def _follow(running: Running, output: Output, deadline: float, limits: Limits) -> str:
    """Why the child must be ended; empty when it ended by itself."""
    look = time.monotonic() + _LOOK_EVERY
    ended = os.pidfd_open(running.child.pid)
    with contextlib.closing(selectors.DefaultSelector()) as selector:
        selector.register(running.pipe, selectors.EVENT_READ)
        selector.register(ended, selectors.EVENT_READ)
        try:
            while True:
                ready = {key.fd for key, _ in selector.select(max(0.0, min(look, deadline) - time.monotonic()))}
                if running.pipe in ready and not _take(running.pipe, output):
                    selector.unregister(running.pipe)
                now = time.monotonic()
                if ended in ready:
                    return ""
                if now >= deadline:
                    return "time"
                if now >= look:
                    if why := _too_much(running.child.pid, limits):
                        return why
                    look = time.monotonic() + _LOOK_EVERY
        finally:
            os.close(ended)


def _too_much(process: int, limits: Limits) -> str:
    now = family(process)
    if now.processes > limits.processes:
        return f"more than {limits.processes} processes"
    if now.memory > limits.memory:
        return f"more than {limits.memory >> 20:,} MB of memory"
    return ""


def _take(pipe: int, output: Output) -> bool:
    """Read what is there. False at the end of the stream."""
    try:
        data = os.read(pipe, 1 << 16)
    except BlockingIOError:
        return True
    output.add(data)
    return bool(data)


def _drain(pipe: int, output: Output) -> None:
    with contextlib.suppress(BlockingIOError):
        while data := os.read(pipe, 1 << 16):
            output.add(data)
