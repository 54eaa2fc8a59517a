"""Confinement by Landlock, seccomp and resource limits, for machines without namespaces."""

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import ClassVar

from afresh.core.action import PLAIN_MANNER, CommandRun, RunManner
from afresh.core.network_access import NO_NETWORK, NetworkAccess
from afresh.errors import NoSandbox
from afresh.sandbox.command_environment import SYSTEM_FOLDERS, find_interpreter_folders, list_etc_files, list_mounted_environments
from afresh.sandbox.mounts import Mounts
from afresh.sandbox.process import NEVER, OutputListener, listen_to_nothing
from afresh.sandbox.report_folder import REPORTERS_FOLDER
from afresh.sandbox.resource_limits import ResourceLimits
from afresh.sandbox.seccomp import build_filter
from afresh.sandbox.supervisor import SupervisedCommand, make_private_folder, refuse_network
from afresh.sandbox.toolchain_folders import link_home_files

_READABLE_SYSTEM_PATHS = ("/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf", "/proc", "/sys/devices/system/cpu")
_READABLE_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_VERSION_CALL = 444
_VERSION_FLAG = 1


def read_landlock_version() -> int:
    """The version of the kernel's interface; 0 if there is none."""
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, libc.syscall(_VERSION_CALL, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG)))


WEAKER = (
    "a command can see whether a file exists, and the command lines of other processes; it can change mode, group and times of "
    "your files elsewhere (as root: of all); it has no sockets, no shared memory, no extended attributes, can't watch files, and "
    "has no /tmp but $TMPDIR"
)
"""What is weaker than in bubblewrap."""


@dataclass(frozen=True, slots=True)
class Landlock:
    """The tree stays where it is on the host, so an editable install must be proven to lead into it."""

    mounts: Mounts
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    listen: Callable[[str], OutputListener] = listen_to_nothing
    """Returns who hears what a command prints, as it is printed."""
    ended_by: Event = NEVER
    """An event that another thread sets to end the running command."""
    level: ClassVar[str] = "landlock"
    mounted: ClassVar[bool] = False

    @property
    def root(self) -> Path:
        """The path of the tree as a command sees it."""
        return self.mounts.tree

    def run(
        self,
        command: str,
        timeout: float,
        reports: bool = False,
        network: NetworkAccess = NO_NETWORK,
        manner: RunManner = PLAIN_MANNER,
    ) -> CommandRun:
        refuse_network(network)
        calls = build_filter(namespaces=False, root=os.geteuid() == 0)
        if calls is None:
            raise NoSandbox(f"there is no system call filter for {os.uname().machine}", "install bubblewrap")
        with make_private_folder() as private:
            links = link_home_files(private / "tmp/home")
            readable = (
                *SYSTEM_FOLDERS,
                *list_etc_files(),
                *find_interpreter_folders(self.mounts),
                *list_mounted_environments(self.mounts),
                *self.mounts.readable,
                REPORTERS_FOLDER,
                private / "shown",
                *links,
            )
            rules = {
                "read": [*map(str, readable), *_READABLE_SYSTEM_PATHS],
                "write": [str(self.mounts.tree), str(private / "tmp")],
                "devices": _READABLE_DEVICES,
                "filter": calls,
            }
            started = SupervisedCommand(self.mounts, self.limits, private, rules, self.listen, self.ended_by, manner)
            return started.run(command, timeout, reports)
