"""Runs a command under the stand-alone launcher: for Landlock and for no sandbox, which have no process namespace."""

import contextlib
import marshal
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, ClassVar

from afresh.core.action import PLAIN_MANNER, CommandRun, RunManner
from afresh.core.network_access import NETWORK_NEEDS_BUBBLEWRAP, NO_NETWORK, NetworkAccess
from afresh.errors import NoSandbox, NotPossible
from afresh.sandbox.command_environment import find_shell, list_mounted_environments, make_clean_environment
from afresh.sandbox.disk_watch import DiskWatch
from afresh.sandbox.file_watch import watch_files
from afresh.sandbox.missing_files import explain_missing_files
from afresh.sandbox.mounts import PRIVATE_PREFIX, Mounts
from afresh.sandbox.process import (
    NEVER,
    STOPPED_EXIT_CODE,
    TIMED_OUT_EXIT_CODE,
    OutputListener,
    explain_file_size,
    fail_command,
    finish_command,
    kill_child_on_error,
    listen_to_nothing,
    make_repeatable,
    start_command,
)
from afresh.sandbox.report_folder import REPORTERS_FOLDER, ReportFolder, make_report_variables
from afresh.sandbox.resource_limits import ResourceLimits, to_rlimits
from afresh.sandbox.shown_environments import open_writable, remove_entry, show_environments
from afresh.sandbox.toolchain_folders import link_home_files

LAUNCHER_FILE = Path(__file__).parent / "launcher.py"
_STOP_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class SupervisedCommand:
    """Runs a command in the tree, at its real path, with these rules or none."""

    mounts: Mounts
    limits: ResourceLimits
    private: Path
    confined: Mapping[str, Any] | None = None
    listen: Callable[[str], OutputListener] = listen_to_nothing
    ended_by: Event = NEVER
    manner: RunManner = PLAIN_MANNER

    def run(self, command: str, timeout: float, reports: bool = False) -> CommandRun:
        folder = ReportFolder.make(self.private / "tmp") if reports else None
        done = self._run(command, timeout, self._environment(folder))
        return folder.collect(done) if folder else done

    def _environment(self, folder: ReportFolder | None) -> Mapping[str, str]:
        """An editable install leads to the checkout: `sitecustomize` makes it lead to the tree, in every Python."""
        environments = list_mounted_environments(self.mounts) if self.mounts.at != self.mounts.tree else ()
        variables = make_clean_environment(self.mounts, str(self.private / "tmp"), self.manner.elsewhere)
        if self.manner.elsewhere and not environments:
            return variables
        checkout = (self.mounts.at, *environments) if self.mounts.at != self.mounts.tree else ()
        reports = make_report_variables(REPORTERS_FOLDER, folder.place if folder else None, self.mounts.tree)
        return variables | reports | {"AFRESH_CHECKOUT": ":".join(map(str, checkout))}

    def _run(self, command: str, timeout: float, environment: Mapping[str, str]) -> CommandRun:
        told, tell = os.pipe()
        try:
            with guard_git_file(self.mounts.tree) as put_back, show_environments(self.mounts, self.private) as replaced:
                with watch_files(self.mounts, self.manner) as watch:
                    done = self._follow(command, timeout, tell, environment)
                done = replace(done, files=watch.access)
            report = os.read(told, 1 << 16).decode(errors="replace")
        finally:
            os.close(told)
        how, _, what = report.partition(" ")
        if how == "failed":
            raise NoSandbox(f"the command could not be confined: {what}", "run `afresh doctor` for details")
        if how == "exit" and done.exit not in (TIMED_OUT_EXIT_CODE, STOPPED_EXIT_CODE):
            done = replace(done, exit=int(what), output=done.output + explain_file_size(int(what), self.limits))
        done = explain_missing_files(done, self.mounts)
        trees = (self.mounts.tree, self.mounts.at, self.private / "shown")
        output = make_repeatable(done.output, trees, self.private / "tmp")
        done = replace(done, output=output + "".join(put_back))
        for said, spoiled in replaced.items():
            done = fail_command(done, said, spoiled)
        return done

    def _follow(self, command: str, timeout: float, tell: int, environment: Mapping[str, str]) -> CommandRun:
        try:
            order = {
                "argv": [find_shell(), "-c", command],
                "limits": to_rlimits(self.limits),
                "confined": dict(self.confined) if self.confined else None,
                "report": tell,
                "parent": os.getpid(),
            }
            argv = [sys.executable, "-I", "-S", str(LAUNCHER_FILE), marshal.dumps(order).hex()]
            disk = DiskWatch((self.mounts.tree, self.private), self.limits, self.mounts.marker)
            running = start_command(argv, environment, self.mounts.tree, (tell,), disk)
        finally:
            os.close(tell)
        with kill_child_on_error(running):
            stop, hear = partial(_stop_launcher, running.child), self.listen(command)
            return finish_command(running, command, timeout, self.limits, stop, hear, self.ended_by)


def _stop_launcher(launcher: subprocess.Popen[bytes]) -> None:
    """The launcher ends all that it has started before it ends itself."""
    launcher.send_signal(signal.SIGTERM)
    try:
        launcher.wait(_STOP_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(launcher.pid, signal.SIGKILL)


def refuse_network(network: NetworkAccess) -> None:
    """Landlock can only close sockets, all or none: with them open a command could reach more than the proxy."""
    if network:
        raise NotPossible(NETWORK_NEEDS_BUBBLEWRAP, next="install bubblewrap", safe="the command was not run")


@contextlib.contextmanager
def make_private_folder() -> Iterator[Path]:
    """A folder of the command's own, with one for its temporary files."""
    folder = Path(tempfile.mkdtemp(prefix=PRIVATE_PREFIX))
    try:
        (folder / "tmp/home").mkdir(parents=True)
        yield folder
    finally:
        subprocess.run(
            ("rm", "-rf", "--", folder), env={"PATH": os.defpath}, stderr=subprocess.DEVNULL, check=False
        )  # however deep


@contextlib.contextmanager
def guard_git_file(tree: Path) -> Iterator[list[str]]:
    """Restore the tree's `.git` file if the command has changed it, and report that."""
    link, said = tree / ".git", list[str]()
    before = link.read_bytes() if link.is_file() and not link.is_symlink() else None
    yield said
    if before is None:
        return
    with open_writable(tree) as folder:
        if link.is_file() and not link.is_symlink() and link.read_bytes() == before:
            return
        remove_entry(link.name, folder)
    link.write_bytes(before)
    said.append("\n[afresh: the command changed .git; it was put back]\n")


@dataclass(frozen=True, slots=True)
class UnconfinedSandbox:
    """A command can read and write all that the user can, and reach the network."""

    mounts: Mounts
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    listen: Callable[[str], OutputListener] = listen_to_nothing
    """Returns who hears what a command prints, as it is printed."""
    ended_by: Event = NEVER
    """An event that another thread sets to end the running command."""
    level: ClassVar[str] = "none"
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
        with make_private_folder() as private:
            link_home_files(private / "tmp/home")
            started = SupervisedCommand(self.mounts, self.limits, private, None, self.listen, self.ended_by, manner)
            return started.run(command, timeout, reports)
