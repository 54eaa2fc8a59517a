"""Running a child to its end: time-out, output cap, and a watch over all that it starts."""

import contextlib
import os
import re
import select
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from afresh.core.action import CommandRun
from afresh.errors import Cancelled
from afresh.sandbox.disk_watch import WRITTEN, DiskWatch
from afresh.sandbox.resource_limits import ResourceLimits, measure_process_tree, read_file_size_limit, read_unmapped_memory
from afresh.sandbox.terminal_text import render_terminal_text

OutputListener = Callable[[bytes], None]
NEVER = Event()
"""Never set, so it ends no command."""


def ignore_output(data: bytes) -> None:
    """For callers that do not follow the output."""


def listen_to_nothing(command: str) -> OutputListener:
    return ignore_output


class OutputBuffer:
    """Takes any amount of bytes and keeps about `limit` of them. `hear` gets all."""

    def __init__(self, limit: int, hear: OutputListener = ignore_output) -> None:
        self._half = max(1, limit // 2)
        self._hear = hear
        self._head = bytearray()
        self._tail = bytearray()
        self._cut = 0

    def add(self, data: bytes) -> None:
        self._hear(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._half:
            self._shorten()

    def _shorten(self) -> None:
        surplus = len(self._tail) - self._half
        if surplus > 0:
            del self._tail[:surplus]
            self._cut += surplus

    def text(self) -> str:
        self._shorten()
        head, tail = self._head.decode(errors="replace"), self._tail.decode(errors="replace")
        if not self._cut:
            return (self._head + self._tail).decode(errors="replace")
        return f"{head}\n[afresh: {self._cut:,} bytes of output left out here]\n{tail}"


ROOT_LINE = ". (the root of the project)"
"""Replaces a line that holds only the path of the tree, as `pwd` prints it."""


def hide_paths(text: str, trees: Iterable[Path], temporary: Path | None = None) -> str:
    """The text with paths in the task's tree relative to it, and those in a private temporary folder below $TMPDIR: as the next
    command can use them.

    The path of a tree differs between machines, sandbox levels and tasks; what a model is shown must not.
    """
    for tree in sorted({str(tree) for tree in trees}, key=len, reverse=True):
        path = rf"(?<![\w.-]){re.escape(tree)}"
        text = re.sub(rf"^{path}$", ROOT_LINE, text, flags=re.MULTILINE)
        text = re.sub(rf"{path}/+(?=[\w.@+~-])", "", text)
        text = re.sub(rf"{path}(?![\w.-])", ".", text)
    return text.replace(str(temporary), "$TMPDIR") if temporary else text


_OBJECT_ADDRESS = re.compile(r"(?<= at )0x[0-9a-fA-F]{6,16}(?=>)")
_TEST_DURATION = re.compile(
    r"^((?:=+ )?(?:\d+ [a-z][a-z ,\d]*|no tests ran|Ran \d+ tests?) in )[\d.]+s(?: \([\d:, a-z]+\))?(?=(?: =+)?\s*$)",
    re.MULTILINE,
)
_TEST_TIME = re.compile(
    r"^( *(?:Start at|Duration|Time:) +)\d[\d:.]*(?: ?m?s\b.*)?$|(?:(?<= test\))|(?<= tests\))) +\d+ ?ms$", re.MULTILINE
)
"""As vitest and jest print when a run began, and how long it and each file took."""


def make_repeatable(text: str, trees: Iterable[Path], temporary: Path | None = None) -> str:
    """The output as it would be anywhere and at any time: as a terminal leaves it, without the tree's path, addresses of objects
    and durations of test runs. Otherwise prompts would depend on the machine and its speed."""
    shown = hide_paths(render_terminal_text(text), trees, temporary)
    shown = _TEST_TIME.sub(lambda match: f"{match[1]}…" if match[1] else "", shown)
    return _TEST_DURATION.sub(r"\1…s", _OBJECT_ADDRESS.sub("0x…", shown))


TIMED_OUT_EXIT_CODE = 124
STOPPED_EXIT_CODE = 137
_WATCH_INTERVAL_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class RunningCommand:
    """A child and the pipe that its stdout and stderr share."""

    child: subprocess.Popen[bytes]
    pipe: int
    began: float
    disk: DiskWatch


def start_command(
    argv: Sequence[str], environment: Mapping[str, str], folder: Path, descriptors: Sequence[int], disk: DiskWatch
) -> RunningCommand:
    """Start a child in a new session, without a terminal, with only these descriptors."""
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
    return RunningCommand(child, reading, time.monotonic(), disk)


@contextlib.contextmanager
def kill_child_on_error(running: RunningCommand) -> Iterator[None]:
    """A child whose confinement could not be completed does not go on."""
    try:
        yield
    except BaseException:
        running.child.kill()
        running.child.wait()
        raise


def finish_command(
    running: RunningCommand,
    command: str,
    timeout: float,
    limits: ResourceLimits,
    stop: Callable[[], None],
    hear: OutputListener = ignore_output,
    ended_by: Event = NEVER,
) -> CommandRun:
    """Follow the child until it ends or must be ended. `stop` returns when nothing that it started is left. Cancelled once
    another thread has set `ended_by`."""
    output = OutputBuffer(limits.output, hear)
    why = ""
    try:
        try:
            why = _follow_command(running, output, running.began + timeout, limits, ended_by)
        finally:
            stop()
            running.child.wait()
        excess = running.disk.find_excess(running.child.pid, at_end=True) if why in ("", "time") else ""
        _read_rest(running.pipe, output)
    finally:
        os.close(running.pipe)
    seconds = time.monotonic() - running.began
    code = running.child.returncode
    if excess or WRITTEN in why:
        note = f"stopped: {excess or why}; what it wrote is not kept"
        return CommandRun(command, STOPPED_EXIT_CODE, f"{output.text()}\n[afresh: {note}]\n", seconds, spoiled=True)
    if why == "time":
        text = f"{output.text()}\n[afresh: stopped after {timeout:g} seconds]\n"
        return CommandRun(command, TIMED_OUT_EXIT_CODE, text, seconds, timed_out=True)
    if why:
        return CommandRun(command, STOPPED_EXIT_CODE, f"{output.text()}\n[afresh: stopped: {why}]\n", seconds)
    code = code if code >= 0 else 128 - code
    return CommandRun(command, code, output.text() + explain_file_size(code, limits), seconds)


def fail_command(done: CommandRun, text: str, spoiled: bool) -> CommandRun:
    """A command that did what it must not do has failed. If spoiled, what it left in the tree is not kept."""
    output = f"{done.output}\n[afresh: {text}]\n"
    return replace(done, exit=done.exit or 1, output=output, spoiled=done.spoiled or spoiled)


FILE_SIZE_EXIT_CODE = 128 + signal.SIGXFSZ


def explain_file_size(code: int, limits: ResourceLimits) -> str:
    """Say why the kernel has ended a command that wrote a large file; empty for any other end."""
    if code != FILE_SIZE_EXIT_CODE:
        return ""
    own = read_file_size_limit()
    whose = " that afresh was started with (ulimit -f)" if 0 < own < limits.file_size else ""
    size = min(own or limits.file_size, limits.file_size)
    return f"\n[afresh: ended: a file grew over the limit of {size:,} bytes{whose}]\n"


def _follow_command(
    running: RunningCommand, output: OutputBuffer, deadline: float, limits: ResourceLimits, ended_by: Event
) -> str:
    """Why the child must be ended; empty when it ended by itself."""
    look, unmapped = time.monotonic() + _WATCH_INTERVAL_SECONDS, read_unmapped_memory()
    ended = os.pidfd_open(running.child.pid)
    with contextlib.closing(selectors.DefaultSelector()) as selector:
        selector.register(running.pipe, selectors.EVENT_READ)
        selector.register(ended, selectors.EVENT_READ)
        try:
            while True:
                ready = {key.fd for key, _ in selector.select(max(0.0, min(look, deadline) - time.monotonic()))}
                if running.pipe in ready and not _read_available(running.pipe, output):
                    selector.unregister(running.pipe)
                now = time.monotonic()
                if ended in ready:
                    return ""
                if now >= deadline:
                    return "time"
                if ended_by.is_set():
                    raise Cancelled("the command was ended")
                if now >= look:
                    if why := _find_exceeded_limit(running.child.pid, limits, unmapped) or running.disk.find_excess(
                        running.child.pid
                    ):
                        return why
                    look = time.monotonic() + _WATCH_INTERVAL_SECONDS
        finally:
            os.close(ended)


def _find_exceeded_limit(process: int, limits: ResourceLimits, unmapped: int) -> str:
    now = measure_process_tree(process)
    if now.processes > limits.processes:
        return f"more than {limits.processes} processes"
    if max(now.memory, read_unmapped_memory() - unmapped) > limits.memory:
        return f"more than {limits.memory >> 20:,} MB of memory"
    return ""


def _read_available(pipe: int, output: OutputBuffer) -> bool:
    """Read what is there. False at the end of the stream."""
    try:
        data = os.read(pipe, 1 << 16)
    except BlockingIOError:
        return True
    output.add(data)
    return bool(data)


def _read_rest(pipe: int, output: OutputBuffer) -> None:
    with contextlib.suppress(BlockingIOError):
        while data := os.read(pipe, 1 << 16):
            output.add(data)


def wait_for_process(handle: int, seconds: float) -> bool:
    """Whether the process ends within this time. A poll takes descriptors of any number; `select.select` does not."""
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))
