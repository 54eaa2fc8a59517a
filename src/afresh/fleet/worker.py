"""A worker of the fleet, one process: takes chunks of tasks from DBOS, one at a time, and looks after the others between them."""

import os
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afresh.app.compose import RunTerms
from afresh.app.queue.read_tasks import find_ticket
from afresh.app.service.stop_signal import StopSignal
from afresh.core.task import describe_worker
from afresh.errors import AfreshError
from afresh.fleet.clone_cache import find_cache_folder, take_clone_folder
from afresh.fleet.dispatch import (
    ChunkName,
    choose_dbos_priority,
    enqueue_ready_tasks,
    forget_old_workflows,
    list_ready_tasks,
    open_client,
)
from afresh.fleet.executor_lock import ExecutorLock, open_connection
from afresh.fleet.fire_schedules import fire_due
from afresh.fleet.run_chunk import STEPS_PER_CHUNK, ChunkEnd, LoggedProgress, run_chunk
from afresh.fleet.stored_projects import FleetProject, StoredProjects, open_stored_projects
from afresh.fleet.tables import PASS_LOCK, clear_faults, count_chunk, make_tables, note_fault
from afresh.fleet.take_over import TakeOver
from afresh.ports.patience import fail_at_once
from afresh.storage.postgres.errors import hide_password
from afresh.storage.renew_lease import identify_worker

PASS_SECONDS = 1.0
"""Between two looks at the queue and at the other workers."""
IDLE_LOOKS = 3
"""After so many looks at an empty queue it is empty: a task that has just ended may make another one ready."""
PATIENCE_SECONDS = 20.0
"""How long a worker that has lost its lock waits for its step to notice; then it ends anyway."""
LOST_LOCK_CODE = 75
"""Exit code: another process should be started in its place."""


@dataclass(frozen=True, slots=True)
class FleetTerms:
    """The user's choices for the workers of this machine."""

    address: str
    """Address of the PostgreSQL that holds the tasks."""
    workers: int = 1
    until_empty: bool = False
    seconds: float = 0.0
    """After this time no chunk is begun. 0: no limit."""
    model: str = ""
    no_sandbox: bool = False
    mode: str = ""
    quiet: bool = False
    schedules: bool = True
    """Whether these workers add scheduled tasks and run heartbeats."""


@dataclass(slots=True)
class FleetWorker:
    """What one process holds while it works. Everything that must outlive it is in PostgreSQL and on the git remotes."""

    terms: FleetTerms
    lock: ExecutorLock
    folder: Path
    stop: StopSignal
    running: str = ""
    """The task that it works on."""

    def say(self, text: str) -> None:
        if not self.terms.quiet:
            print(f"{describe_worker(self.lock.name)}: {text}", file=sys.stderr, flush=True)

    def take_chunk(self, project: str, task: str, number: int) -> dict[str, Any]:
        """The body of the workflow's only step. Returns a reference, and the number and priority of the next chunk if the task
        goes on."""
        chunk = ChunkName(project, task, number)
        self.running = task  # before the question: who waits for this worker to end sees one of the two
        try:
            if self.stop.received or self.lock.lost:
                return ChunkEnd("").to_reference()
            with open_connection(self.terms.address) as connection, open_stored_projects(self.terms.address) as stored:
                projects = {fleet_project.key: fleet_project for fleet_project in stored.list_projects()}
                if project not in projects:
                    return ChunkEnd("").to_reference()
                end = run_chunk(chunk, projects[project], self.folder, self._make_run_terms(task), self.say)
                return self._settle(connection, chunk, projects[project], end)
        finally:
            self.running = ""

    def fire_due(self) -> None:
        """Add the tasks and run the heartbeats that are due, in separate clones: a chunk may be running in the others."""
        if not (self.stop.received or self.lock.lost):
            client = open_client(self.terms.address)
            try:
                forget_old_workflows(client)
            finally:
                client.destroy()
            with open_stored_projects(self.terms.address) as stored:
                fire_due(stored, self.folder / "schedules", self.say)

    def _settle(self, connection: Any, chunk: ChunkName, project: FleetProject, end: ChunkEnd) -> dict[str, Any]:
        if end.fault:
            ready = chunk.task in {ticket.task for ticket in list_ready_tasks(project)}
            wait = note_fault(connection, chunk.project, chunk.task, end.fault) if ready else 0
            self.say(f"{chunk.task}: {end.fault}" + (f"; tried again in {wait:.0f} s" if ready else ""))
        elif end.status:
            clear_faults(connection, chunk.project, chunk.task)
        if not end.goes_on or not (ticket := find_ticket(project.queue, chunk.task)):
            return end.to_reference()
        number = count_chunk(connection, chunk.project, chunk.task, chunk.number)
        return end.to_reference() | {"next": number, "priority": choose_dbos_priority(ticket)}

    def _make_run_terms(self, task: str) -> RunTerms:
        fleet_terms, progress = self.terms, LoggedProgress(task, self.say)
        return RunTerms(
            model=fleet_terms.model,
            no_sandbox=fleet_terms.no_sandbox,
            watchers=(progress, self.stop),
            alert=lambda text: progress.say(f"ALERT: {text}"),
            mode=fleet_terms.mode,
            cancellations=(self.stop, self.lock),
            at_most=STEPS_PER_CHUNK,
            unattended=True,
        )


class FleetPass:
    """Looks after the queue and the other workers, again and again; connections that are lost are opened again."""

    def __init__(self, worker: FleetWorker) -> None:
        self.worker, self.address = worker, worker.terms.address
        self._ends = ExitStack()
        self._take_over: TakeOver | None = None
        self._stored: StoredProjects | None = None
        self._said = ""

    def look(self) -> int:
        """One look; the number of tasks that are ready. Only one worker looks at a time, the others read."""
        try:
            with fail_at_once():  # a worker that waits here does not see that it has lost its lock
                return self._look()
        except Exception as fault:  # the server is restarted, the network is cut: the next look opens it again
            self.close()
            if str(fault) != self._said:
                self._said = str(fault)
                self.worker.say(f"can't look after the queue: {hide_password(' '.join(self._said.split()), self.address)}")
            return -1

    def _look(self) -> int:
        take_over = self._take_over or self._open()
        assert self._stored
        projects = self._stored.list_projects()
        with take_over.connection.transaction():
            row = take_over.connection.execute("SELECT pg_try_advisory_xact_lock(%s)", (PASS_LOCK,)).fetchone()
            if row and row[0]:
                take_over.requeue_lost_chunks(projects)
                for project in projects:
                    enqueue_ready_tasks(take_over.client, take_over.connection, project)
        return sum(len(list_ready_tasks(project)) for project in projects)

    def _open(self) -> TakeOver:
        connection = self._ends.enter_context(open_connection(self.address))
        connection.execute("SET idle_in_transaction_session_timeout = '5s'")
        client = open_client(self.address)
        self._ends.callback(client.destroy)
        self._stored = self._ends.enter_context(open_stored_projects(self.address))
        self._take_over = TakeOver(self.worker.lock.name, client, connection, self.worker.say)
        return self._take_over

    def close(self) -> None:
        self._take_over = None
        ends, self._ends = self._ends, ExitStack()
        try:
            ends.close()
        except Exception:  # what is broken already
            return


def work_in_fleet(terms: FleetTerms) -> int:
    """Work until told to stop. Returns the exit code."""
    from afresh.fleet.workflows import launch_dbos

    with ExitStack() as ends:
        stop = ends.enter_context(StopSignal())
        lock = ExecutorLock(terms.address, identify_worker())
        lock.take()
        ends.callback(lock.release)
        with open_connection(terms.address) as connection:
            make_tables(connection)
        worker = FleetWorker(terms, lock, ends.enter_context(take_clone_folder(find_cache_folder())), stop)
        shut_down = launch_dbos(worker)
        worker.say(f"waits for tasks in {worker.folder}")
        code = wait_and_look_after(worker)
        if code == LOST_LOCK_CODE:
            sys.stderr.flush()
            os._exit(code)  # threads may hang on a dead connection; nothing that they hold is worth waiting for
        ends.callback(shut_down)
    return code


def wait_and_look_after(worker: FleetWorker, now: Callable[[], float] = time.monotonic) -> int:
    began, fleet_pass, idle = now(), FleetPass(worker), 0
    try:
        while True:
            if not is_lock_held(worker):
                worker.say(f"stopped because {worker.lock.lost}")
                until = now() + PATIENCE_SECONDS
                while worker.running and now() < until:
                    time.sleep(0.1)
                return LOST_LOCK_CODE
            if worker.terms.seconds and now() - began >= worker.terms.seconds and not worker.stop.received:
                worker.say("the time is over; stops after the step")
                worker.stop.received = "the time that it was given"
            if worker.stop.received and not worker.running:
                return 0
            ready = fleet_pass.look()
            idle = idle + 1 if ready == 0 and not worker.running else 0
            if worker.terms.until_empty and idle >= IDLE_LOOKS:
                return 0
            time.sleep(PASS_SECONDS)
    finally:
        fleet_pass.close()


def is_lock_held(worker: FleetWorker) -> bool:
    try:
        worker.lock.check()
    except AfreshError:
        return False
    return True
