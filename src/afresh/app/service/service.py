"""A service for one project: one at a time, and what it says of its health."""

import fcntl
import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from afresh.app.project import Project
from afresh.app.service.supervise import ChildPhase, ChildSpec, ChildStatus, ServiceSupervisor
from afresh.errors import AfreshError, NotPossible
from afresh.ports.patience import fail_at_once
from afresh.views.file_io import make_folder, refuse_symlinks

LOCK_FILE_NAME = "serve.lock"
ADDRESS_FILE_NAME = "serve.address"
WITHOUT_END = "99999d"
"""How long workers take tasks: until they are stopped."""
STOPPING_WORDS = "Stopping: workers end after their step."


def list_children(workers: int, options: Sequence[str], schedules: bool, fleet: bool = False) -> list[ChildSpec]:
    """The commands that a service runs: the same as a person would type. `options`: more for `afresh work`. Workers of a fleet
    look after schedules themselves."""
    afresh = (sys.executable, "-m", "afresh.app.service.end_with_parent", str(os.getpid()))
    without = ("--no-schedules",) if fleet and not schedules else ()
    work = ChildSpec("workers", (*afresh, "work", "--workers", str(workers), "--for", WITHOUT_END, *options, *without))
    return [work, *([ChildSpec("schedules", (*afresh, "schedule", "run", "--loop"))] if schedules and not fleet else [])]


@contextmanager
def hold_service_lock(project: Project) -> Generator[None]:
    """Refuse a second service of this project. The lock goes with the process, however it ends."""
    path = project.paths.make_state() / LOCK_FILE_NAME
    refuse_symlinks(path.parent, path)
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            who = file.read().strip()
            raise NotPossible(
                f"afresh serve already runs for this project{f' (process {who})' if who else ''}",
                next="stop it first, with Ctrl-C or SIGTERM",
                safe="nothing was started",
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


@contextmanager
def keep_address(project: Project, address: str) -> Generator[Path]:
    """Write the address with its key to a file that only the user can read, for as long as the service runs."""
    path = project.paths.state / ADDRESS_FILE_NAME
    refuse_symlinks(path.parent, path)
    make_folder(path.parent)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{address}\n")
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


class ServiceHealth:
    """What a service says of itself: to whoever asks, and on the pages of the dashboard."""

    def __init__(self, project: Project, supervisor: ServiceSupervisor) -> None:
        self._project, self._supervisor = project, supervisor

    def report(self) -> tuple[bool, dict[str, Any]]:
        """Whether all is well, and the answer. It names no task, goal or file: it is given without a key."""
        statuses, database = self._supervisor.list_statuses(), self._try_database()
        stopping = self._supervisor.is_stopping
        well = not stopping and not database and all(is_well(one) for one in statuses)
        parts = {one.name: {"state": one.phase.value, "restarts": one.restarts, "why": one.why} for one in statuses}
        word = "stopping" if stopping else "ok" if well else "failing"
        return well, {"status": word, "database": database or "ok", **parts}

    def describe_trouble(self) -> str:
        """What a person at the dashboard should know; empty if all is well."""
        if self._supervisor.is_stopping:
            return STOPPING_WORDS
        ill = [one for one in self._supervisor.list_statuses() if not is_well(one)]
        return "; ".join(f"The {one.name} of this service can't work: {one.why}. It is tried again" for one in ill)

    def _try_database(self) -> str:
        try:
            with fail_at_once():
                self._project.queue.counts()
        except (AfreshError, OSError):
            return "can't be read"
        return ""


def is_well(status: ChildStatus) -> bool:
    """It runs, and has not ended shortly before. One that was never started is on its way."""
    return not status.why and status.phase in (ChildPhase.RUNNING, ChildPhase.WAITING)
