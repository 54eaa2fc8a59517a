"""Strict confinement by bubblewrap: own namespaces, few read-only paths, the task's tree at the repository's own path."""

import contextlib
import json
import os
import resource
import select
import shutil
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from afresh.core.action import CommandRun
from afresh.errors import NoSandbox, TryAgain
from afresh.sandbox.command_environment import (
    SYSTEM_FOLDERS,
    find_interpreter_folders,
    find_shell,
    list_etc_files,
    list_mounted_environments,
    make_clean_environment,
)
from afresh.sandbox.mounts import Mounts, make_own_folder, make_protected_paths
from afresh.sandbox.process import (
    STOPPED_EXIT_CODE,
    TIMED_OUT_EXIT_CODE,
    RunningCommand,
    finish_command,
    kill_child_on_error,
    make_repeatable,
    start_command,
)
from afresh.sandbox.report_folder import SEEN_FOLDER, ReportFolder, make_report_variables
from afresh.sandbox.resource_limits import ResourceLimits, to_rlimits
from afresh.sandbox.seccomp import build_filter
from afresh.sandbox.supervisor import make_private_folder

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
    """A process namespace, known by its first process: when that ends, the kernel ends all others."""

    def __init__(self, running: RunningCommand, status: int, descriptors: BubblewrapDescriptors) -> None:
        self._running, self._status = running, status
        self._process = _read_first_process(status)
        self._handle: int | None = None
        with contextlib.suppress(ProcessLookupError):
            self._handle = descriptors.keep(os.pidfd_open(self._process)) if self._process else None

    def limit(self, limits: Sequence[tuple[int, int]]) -> None:
        """Set limits while the process still waits, so that the command starts with them."""
        try:
            for name, value in limits if self._handle is not None else ():
                resource.prlimit(self._process, name, (value, value))
        except OSError as problem:
            raise NoSandbox(f"resource limits can't be set: {problem}", "run `afresh doctor` for details") from problem

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
    """The process number in the first line of bubblewrap's report; 0 if it ended before."""
    line = b"".join(_read_line_bytes(status))
    return int(json.loads(line)["child-pid"]) if line.strip() else 0


def _read_line_bytes(descriptor: int) -> Iterator[bytes]:
    while byte := os.read(descriptor, 1):
        yield byte
        if byte == b"\n":
            return


_OWN_ETC_FOLDER = Path(__file__).parent / "etc"
_ISOLATION_OPTIONS = (
    *("--unshare-user", "--unshare-all", "--disable-userns", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL"),
    *("--die-with-parent", "--new-session", "--hostname", "afresh"),
)


def find_bubblewrap() -> str | None:
    """The path of bubblewrap, searched in system folders only: PATH may lead into the repository."""
    return shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin:/run/current-system/sw/bin")


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """A fresh sandbox for every command. Files that it makes in the tree belong to the user."""

    mounts: Mounts
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    level: ClassVar[str] = "bubblewrap"
    mounted: ClassVar[bool] = True
    weaker: ClassVar[tuple[str, ...]] = ()

    @property
    def root(self) -> Path:
        """Where a command sees the tree."""
        return self.mounts.at

    def run(self, command: str, timeout: float, reports: bool = False) -> CommandRun:
        with contextlib.ExitStack() as ends:
            descriptors = BubblewrapDescriptors()
            ends.callback(descriptors.close)
            if not reports:
                return self._run(command, timeout, descriptors)
            folder = ReportFolder.make(ends.enter_context(make_private_folder()))
            return folder.collect(self._run(command, timeout, descriptors, folder))

    def _run(
        self, command: str, timeout: float, descriptors: BubblewrapDescriptors, reports: ReportFolder | None = None
    ) -> CommandRun:
        (status, told), (gate, opener) = descriptors.pipe(), descriptors.pipe()
        given = [told, gate]
        argv = [_require_bubblewrap(), *_ISOLATION_OPTIONS, "--json-status-fd", str(told), "--block-fd", str(gate)]
        if calls := build_filter(namespaces=True):
            given.append(descriptors.file(calls))
            argv += ["--seccomp", str(given[-1])]
        argv += [*self._view(), *(reports.mounts() if reports else ()), *self._enter(), "--", find_shell(), "-c", command]
        running = start_command(argv, self._environment(reports is not None), Path("/"), given)
        descriptors.close(*given)
        with kill_child_on_error(running):
            namespace = BubblewrapNamespace(running, status, descriptors)
            namespace.limit(to_rlimits(self.limits))
            with contextlib.suppress(BrokenPipeError):
                os.write(opener, b"x")
            done = finish_command(running, command, timeout, self.limits, namespace.stop)
        if not namespace.ran() and done.exit not in (TIMED_OUT_EXIT_CODE, STOPPED_EXIT_CODE):
            raise NoSandbox(f"bubblewrap could not start: {done.output.strip()[-500:]}", "run `afresh doctor` for details")
        return replace(done, output=make_repeatable(done.output, (self.mounts.tree, self.mounts.at)))

    def _view(self) -> Iterator[str]:
        yield from _system_mounts(self.limits)
        for path in (*find_interpreter_folders(self.mounts), *self.mounts.readable):
            yield from ("--ro-bind-try", str(path), str(path))
        yield from self._tree()

    def _enter(self) -> Iterator[str]:
        yield from ("--remount-ro", "/", "--chdir", str(self.mounts.at))

    def _environment(self, reports: bool) -> Mapping[str, str]:
        seen = (SEEN_FOLDER / "reporters", SEEN_FOLDER / "reports", self.mounts.at)
        return make_clean_environment(self.mounts) | (make_report_variables(*seen) if reports else {})

    def _tree(self) -> Iterator[str]:
        tree, at = self.mounts.tree, self.mounts.at
        yield from ("--bind", str(tree), str(at))
        for name in make_protected_paths(tree):
            yield from ("--ro-bind", str(tree / name), str(at / name))
        for folder in list_mounted_environments(self.mounts):
            make_own_folder(tree, str(folder.relative_to(at)))
            yield from ("--ro-bind", str(folder), str(folder))


def _system_mounts(limits: ResourceLimits) -> Iterator[str]:
    for path in SYSTEM_FOLDERS:
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    for path in list_etc_files():
        yield from ("--ro-bind", str(path), str(path))
    for path in sorted(_OWN_ETC_FOLDER.iterdir()):
        yield from ("--ro-bind", str(path), f"/etc/{path.name}")
    memory = ("--perms", "1777", "--size", str(limits.temporary), "--tmpfs")
    yield from ("--proc", "/proc", *_kernel_settings_mounts(), "--dev", "/dev", *memory, "/dev/shm", "--remount-ro", "/dev")
    yield from (*memory, "/tmp", "--dir", "/tmp/home", "--dir", "/run", "--symlink", "/tmp", "/var/tmp")


def _kernel_settings_mounts() -> Iterator[str]:
    """All of /proc that is not a process and could be written, read-only: started by root, a command's user is root outside, and
    bubblewrap covers only folders that are writable themselves, not the writable files in them."""
    for entry in sorted(os.scandir("/proc"), key=lambda entry: entry.name):
        if entry.name.isdigit() or entry.is_symlink():
            continue
        with contextlib.suppress(OSError):
            if entry.is_dir() or entry.stat().st_mode & 0o222:
                yield from ("--ro-bind", entry.path, entry.path)


def _require_bubblewrap() -> str:
    program = find_bubblewrap()
    if program is None:
        raise NoSandbox("bubblewrap is not installed", "sudo apt install bubblewrap")
    return program
