"""Strict confinement by bubblewrap: own namespaces, few read-only paths, the task's tree at the repository's own path."""

import contextlib
import json
import os
import resource
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import ClassVar

from afresh.core.action import PLAIN_MANNER, CommandRun, RunManner
from afresh.core.network_access import NO_NETWORK, NetworkAccess, NetworkUse
from afresh.errors import NoSandbox, TryAgain
from afresh.sandbox.command_environment import (
    SYSTEM_FOLDERS,
    find_interpreter_folders,
    find_shell,
    list_environment_mounts,
    list_etc_files,
    make_clean_environment,
)
from afresh.sandbox.disk_watch import DiskWatch
from afresh.sandbox.file_watch import watch_files
from afresh.sandbox.missing_files import explain_missing_files
from afresh.sandbox.mounts import (
    LINKED_NAME,
    PACKAGE_CACHE_NAMES,
    Mounts,
    find_blocked_folder,
    make_own_folder,
    make_protected_paths,
    mask_sockets,
)
from afresh.sandbox.open_network import OFFLINE_VARIABLES, OpenNetwork, make_network_variables, open_network
from afresh.sandbox.own_environments import MAX_PACKAGES, collect_new_environments, copy_environments, list_installed_packages
from afresh.sandbox.process import (
    NEVER,
    STOPPED_EXIT_CODE,
    TIMED_OUT_EXIT_CODE,
    OutputListener,
    RunningCommand,
    fail_command,
    finish_command,
    kill_child_on_error,
    listen_to_nothing,
    make_repeatable,
    start_command,
    wait_for_process,
)
from afresh.sandbox.report_folder import SEEN_FOLDER, ReportFolder, make_report_variables
from afresh.sandbox.resource_limits import ResourceLimits, to_rlimits
from afresh.sandbox.seccomp import build_filter
from afresh.sandbox.shown_environments import describe_blocked, remove_left_link
from afresh.sandbox.supervisor import make_private_folder
from afresh.sandbox.toolchain_folders import OWN_HOME_FOLDER, list_home_links

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
        if self._handle is not None and not wait_for_process(self._handle, _KILL_TIMEOUT_SECONDS):
            raise TryAgain("processes of a command are stuck in the kernel and could not be killed", local=True)

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


_PACKAGE_CACHE_BYTES = 256 << 20
_OWN_ETC_FOLDER = Path(__file__).parent / "etc"
_ISOLATION_OPTIONS = (
    *("--unshare-user", "--unshare-all", "--disable-userns", "--cap-drop", "ALL"),
    *("--die-with-parent", "--new-session"),
)
_OWN_NAMES = ("--uid", "1000", "--gid", "1000", "--hostname", "afresh")
_OTHER_NAMES = ("--uid", "65534", "--gid", "65534", "--hostname", "build-4")
_MAX_FIXED_MOUNTS = 100
"""Bubblewrap takes three seconds for eight hundred."""


def find_bubblewrap() -> str | None:
    """The path of bubblewrap, searched in system folders only: PATH may lead into the repository."""
    return shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin:/run/current-system/sw/bin")


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """A fresh sandbox for every command. Files that it makes in the tree belong to the user."""

    mounts: Mounts
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    listen: Callable[[str], OutputListener] = listen_to_nothing
    """Returns who hears what a command prints, as it is printed."""
    ended_by: Event = NEVER
    """An event that another thread sets to end the running command."""
    level: ClassVar[str] = "bubblewrap"
    mounted: ClassVar[bool] = True

    @property
    def root(self) -> Path:
        """The path of the tree as a command sees it."""
        return self.mounts.at

    def run(
        self,
        command: str,
        timeout: float,
        reports: bool = False,
        network: NetworkAccess = NO_NETWORK,
        manner: RunManner = PLAIN_MANNER,
    ) -> CommandRun:
        with contextlib.ExitStack() as ends:
            extras = SandboxExtras(
                ReportFolder.make(ends.enter_context(make_private_folder())) if reports else None,
                ends.enter_context(open_network(network)) if network else None,
                manner,
            )
            descriptors = BubblewrapDescriptors()
            ends.callback(descriptors.close)
            done = (
                self._run_online(command, timeout, descriptors, extras)
                if network
                else self._run(command, timeout, descriptors, extras)
            )
            return extras.reports.collect(done) if extras.reports else done

    def _run_online(
        self, command: str, timeout: float, descriptors: BubblewrapDescriptors, extras: "SandboxExtras"
    ) -> CommandRun:
        """With environments of the task's own, which the command can write to."""
        assert extras.network
        copy_environments(self.mounts)
        before = list_installed_packages(self.mounts)
        done = self._run(command, timeout, descriptors, extras)
        environments = collect_new_environments(self.mounts)
        packages = tuple(sorted(list_installed_packages(self.mounts) - before))[:MAX_PACKAGES]
        return replace(done, network=NetworkUse(extras.network.proxy.connections, packages, environments))

    def _run(self, command: str, timeout: float, descriptors: BubblewrapDescriptors, extras: "SandboxExtras") -> CommandRun:
        (status, told), (gate, opener) = descriptors.pipe(), descriptors.pipe()
        given = [told, gate]
        names = _OTHER_NAMES if extras.manner.elsewhere else _OWN_NAMES
        argv = [_require_bubblewrap(), *_ISOLATION_OPTIONS, *names, "--json-status-fd", str(told), "--block-fd", str(gate)]
        if calls := build_filter(namespaces=True):
            given.append(descriptors.file(calls))
            argv += ["--seccomp", str(given[-1])]
        argv += [*self._view(extras), "--", *extras.wrap((find_shell(), "-c", command))]
        inherited = (*given, *extras.inherited())
        disk = DiskWatch(self.mounts.list_written(), self.limits, self.mounts.marker)
        with watch_files(self.mounts, extras.manner) as watch:
            running = start_command(argv, self._environment(extras), Path("/"), inherited, disk)
            descriptors.close(*given)
            with kill_child_on_error(running):
                namespace = BubblewrapNamespace(running, status, descriptors)
                namespace.limit(to_rlimits(self.limits))
                with contextlib.suppress(BrokenPipeError):
                    os.write(opener, b"x")
                hear = self.listen(command)
                done = finish_command(running, command, timeout, self.limits, namespace.stop, hear, self.ended_by)
        if not namespace.ran() and done.exit not in (TIMED_OUT_EXIT_CODE, STOPPED_EXIT_CODE):
            raise NoSandbox(f"bubblewrap could not start: {done.output.strip()[-500:]}", "run `afresh doctor` for details")
        told = explain_missing_files(done, self.mounts)
        told = replace(told, files=watch.access, output=make_repeatable(told.output, (self.mounts.tree, self.mounts.at)))
        blocked = find_blocked_folder(self.mounts.tree, self.mounts.environments)
        return fail_command(told, describe_blocked(blocked), spoiled=True) if blocked else told

    def _view(self, extras: "SandboxExtras") -> Iterator[str]:
        yield from _system_mounts(self.limits)
        for path in (*find_interpreter_folders(self.mounts), *self.mounts.readable):
            yield from ("--ro-bind-try", str(path), str(path))
        for link in list_home_links():
            if extras.network and link.target.parent == OWN_HOME_FOLDER:
                continue  # they keep Maven offline
            yield from ("--ro-bind-try", str(link.target), f"/tmp/home/{link.name}")
        yield from (*self._tree(writable=extras.network is not None), *mask_sockets(self.mounts))
        for name in extras.manner.fixed[:_MAX_FIXED_MOUNTS]:
            if not (self.mounts.tree / name).is_symlink():  # it would be mounted where the link leads
                yield from ("--ro-bind", str(self.mounts.tree / name), str(self.mounts.at / name))
        yield from (*extras.mounts(), "--remount-ro", "/", "--chdir", str(self.mounts.at))

    def _environment(self, extras: "SandboxExtras") -> Mapping[str, str]:
        seen = (SEEN_FOLDER / "reporters", SEEN_FOLDER / "reports", self.mounts.at)
        plain = make_clean_environment(self.mounts, elsewhere=extras.manner.elsewhere)
        plain |= make_report_variables(*seen) if extras.reports else {}
        if not extras.network:
            return plain
        return {name: value for name, value in plain.items() if name not in OFFLINE_VARIABLES} | make_network_variables()

    def _tree(self, writable: bool) -> Iterator[str]:
        tree, at = self.mounts.tree, self.mounts.at
        yield from ("--bind", str(tree), str(at))
        for name in make_protected_paths(tree):
            yield from ("--ro-bind", str(tree / name), str(at / name))
        for folder, source in list_environment_mounts(self.mounts).items():
            remove_left_link(self.mounts, folder.relative_to(at))
            make_own_folder(tree, str(folder.relative_to(at)))
            own = self.mounts.own is not None and self.mounts.own in source.parents
            yield from ("--bind" if writable and own else "--ro-bind", str(source), str(folder))
            yield from _cache_mounts(folder, source) if folder.name == LINKED_NAME else ()


@dataclass(frozen=True, slots=True)
class SandboxExtras:
    """Mounts and variables that only some commands get."""

    reports: ReportFolder | None = None
    network: OpenNetwork | None = None
    manner: RunManner = PLAIN_MANNER

    def mounts(self) -> Iterator[str]:
        for extra in filter(None, (self.reports, self.network)):
            yield from extra.mounts()

    def wrap(self, argv: Sequence[str]) -> Sequence[str]:
        return self.network.enter(argv) if self.network else argv

    def inherited(self) -> tuple[int, ...]:
        return (self.network.channel,) if self.network else ()


def _cache_mounts(packages: Path, source: Path) -> Iterator[str]:
    """Caches that runners such as vitest keep beside the packages, and fail without: empty, private and writable."""
    for name in PACKAGE_CACHE_NAMES:
        if (source / name).is_dir() and not (source / name).is_symlink():
            yield from ("--perms", "0755", "--size", str(_PACKAGE_CACHE_BYTES), "--tmpfs", str(packages / name))


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
