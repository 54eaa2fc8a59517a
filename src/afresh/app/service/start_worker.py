"""Starts a worker for a task as a process of its own, which lives on when its starter ends; and stops one."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from afresh.app.project import Project
from afresh.core.task import QueueTicket, TaskStatus
from afresh.storage.renew_lease import identify_worker, is_worker_dead
from afresh.views.file_io import file_name_from_task, make_folder, refuse_symlinks

MAX_LOG_BYTES = 8_000
"""Most bytes shown from the end of a log."""
LOG_FOLDER_NAME = "workers"
HEARTBEAT_LOG_NAME = "schedule run.log"
"""No task has a blank in its name."""
ERROR_MARK = "afresh: "
"""How the command line begins an error; what is safe and what to do next stand below it, indented."""


@dataclass(frozen=True, slots=True)
class WorkerStop:
    """Why a worker ended before its task did."""

    what: str
    advice: tuple[str, ...]
    """What is safe, and what to do next."""


def find_worker_log(project: Project, task: str) -> Path:
    return project.paths.state / LOG_FOLDER_NAME / f"{file_name_from_task(task)}.log"


def start_worker(project: Project, task: str) -> int:
    """Start `afresh resume TASK`; what it says goes to its log. Returns the id of the process. The queue lets only one worker
    have a task, so that a second one ends at once."""
    name = _find_worker_name(project, task)
    refuse_symlinks(name.parent, name)
    worker = _start_process(project, find_worker_log(project, task), "resume", task)
    name.write_text(identify_worker(worker))
    return worker


def start_heartbeat(project: Project) -> None:
    """Start `afresh schedule run`; what it says goes to its log. A run that is under way lets no other begin."""
    _start_process(project, _find_heartbeat_log(project), "schedule", "run")


def _start_process(project: Project, log: Path, *arguments: str) -> int:
    """Start a command of afresh that lives on when this process ends, and return its id."""
    refuse_symlinks(log.parent, log)
    make_folder(log.parent)
    with log.open("wb") as out:
        started = subprocess.Popen(
            [sys.executable, "-m", "afresh.cli.main", *arguments],
            cwd=project.paths.root,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    Thread(target=started.wait, daemon=True).start()  # or its entry stays in the table of processes when it has ended
    return started.pid


def is_worker_starting(project: Project, ticket: QueueTicket) -> bool:
    """Whether a worker that was started here lives and has not claimed its task yet."""
    waits = not ticket.owner and not ticket.marks.hold and ticket.status in (TaskStatus.READY, TaskStatus.RUNNING)
    if not waits or explain_worker_stop(project, ticket):
        return False
    name = _find_worker_name(project, ticket.task)
    return name.is_file() and not name.is_symlink() and not is_worker_dead(name.read_text())


def _find_worker_name(project: Project, task: str) -> Path:
    return find_worker_log(project, task).with_suffix(".worker")


def read_worker_log(project: Project, task: str) -> str:
    """Return the end of the log; empty if no worker was started here."""
    return _read_log(find_worker_log(project, task))


def read_heartbeat_log(project: Project) -> str:
    """Return the end of what the last run that was started here has said."""
    return _read_log(_find_heartbeat_log(project))


def _find_heartbeat_log(project: Project) -> Path:
    return project.paths.state / LOG_FOLDER_NAME / HEARTBEAT_LOG_NAME


def _read_log(log: Path) -> str:
    if log.is_symlink() or not log.is_file():
        return ""
    with log.open("rb") as text:
        text.seek(max(0, log.stat().st_size - MAX_LOG_BYTES))
        return text.read().decode("utf-8", "replace")


def explain_worker_stop(project: Project, ticket: QueueTicket) -> WorkerStop | None:
    """Return why the last worker that was started here has stopped; None while one works, or if the task went on since."""
    if ticket.owner or ticket.status not in (TaskStatus.READY, TaskStatus.RUNNING):
        return None
    _, mark, said = f"\n{read_worker_log(project, ticket.task)}".rpartition(f"\n{ERROR_MARK}")
    if not mark or (ticket.detail and find_worker_log(project, ticket.task).stat().st_mtime < ticket.detail.updated):
        return None
    what, *below = said.splitlines() or [""]
    return WorkerStop(what.strip(), tuple(line.strip() for line in below if line.startswith(" ")))
