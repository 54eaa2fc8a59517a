"""Strict confinement by bubblewrap: own namespaces, few read-only paths, the task's tree at the repository's own path."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from afresh.adapters.sandbox.environment import make_clean_environment, find_shell
from afresh.adapters.sandbox.mounts import ResourceLimits, Mounts, make_own_folder, make_protected_paths
from afresh.adapters.sandbox.namespace import BubblewrapDescriptors, BubblewrapNamespace
from afresh.adapters.sandbox.output import hide_paths
from afresh.adapters.sandbox.process import (
    STOPPED_EXIT_CODE,
    TIMED_OUT_EXIT_CODE,
    kill_child_on_error,
    finish_command,
    start_command,
)
from afresh.adapters.sandbox.reach import SYSTEM_FOLDERS, list_mounted_environments, list_etc_files, find_interpreter_folders
from afresh.adapters.sandbox.rlimits import to_rlimits
from afresh.adapters.sandbox.seccomp import build_filter
from afresh.domain.action import CommandRun
from afresh.errors import NoSandbox

_OWN_ETC_FOLDER = Path(__file__).parent / "etc"
_ISOLATION_OPTIONS = (
    *("--unshare-user", "--unshare-all", "--disable-userns", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL"),
    *("--die-with-parent", "--new-session", "--hostname", "afresh"),
)


def find_bubblewrap() -> str | None:
    """Looked for only where the system keeps its programs: a PATH may lead into the repository."""
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

    def run(self, command: str, timeout: float) -> CommandRun:
        descriptors = BubblewrapDescriptors()
        try:
            return self._run(command, timeout, descriptors)
        finally:
            descriptors.close()

    def _run(self, command: str, timeout: float, descriptors: BubblewrapDescriptors) -> CommandRun:
        (status, told), (gate, opener) = descriptors.pipe(), descriptors.pipe()
        given = [told, gate]
        argv = [_require_bubblewrap(), *_ISOLATION_OPTIONS, "--json-status-fd", str(told), "--block-fd", str(gate)]
        if calls := build_filter(namespaces=True):
            given.append(descriptors.file(calls))
            argv += ["--seccomp", str(given[-1])]
        argv += [*self._view(), "--", find_shell(), "-c", command]
        running = start_command(argv, make_clean_environment(self.mounts), Path("/"), given)
        descriptors.close(*given)
        with kill_child_on_error(running):
            namespace = BubblewrapNamespace(running, status, descriptors)
            namespace.limit(to_rlimits(self.limits))
            with contextlib.suppress(BrokenPipeError):
                os.write(opener, b"x")
            done = finish_command(running, command, timeout, self.limits, namespace.stop)
        if not namespace.ran() and done.exit not in (TIMED_OUT_EXIT_CODE, STOPPED_EXIT_CODE):
            raise NoSandbox(f"bubblewrap could not start: {done.output.strip()[-500:]}", "run `afresh doctor` to see what holds")
        return replace(done, output=hide_paths(done.output, (self.mounts.tree, self.mounts.at)))

    def _view(self) -> Iterator[str]:
        yield from _system_mounts(self.limits)
        for path in (*find_interpreter_folders(self.mounts), *self.mounts.readable):
            yield from ("--ro-bind-try", str(path), str(path))
        yield from self._tree()
        yield from ("--remount-ro", "/", "--chdir", str(self.mounts.at))

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
