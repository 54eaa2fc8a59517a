"""Finds chunks whose worker is dead or hangs, and enqueues them again."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from afresh.app.queue.read_tasks import find_ticket
from afresh.core.task import describe_worker
from afresh.fleet.dispatch import CHUNK_QUEUE, CHUNK_WORKFLOW, ChunkName, parse_chunk_name
from afresh.fleet.executor_lock import is_worker_gone
from afresh.fleet.stored_projects import FleetProject
from afresh.fleet.tables import count_death, note_fault

if TYPE_CHECKING:
    from dbos import DBOSClient, WorkflowStatus
    from psycopg import Connection

MAX_DEATHS = 5
"""Workers that may die with a task, one after another, and it is taken over at once."""
HUNG_SECONDS = 3.0
"""How long a worker with a lock may have a chunk and no lease before it counts as one that hangs: it has none for a moment before
its claim and after its release."""


@dataclass(slots=True)
class TakeOver:
    """Finds the chunks of other workers that are dead or hang."""

    name: str
    """Name of this worker, which leaves its own chunks alone."""
    client: "DBOSClient"
    connection: "Connection"
    say: Callable[[str], None]
    unleased: dict[str, float] = field(default_factory=dict[str, float])
    """Since when a chunk of a living worker has no lease, by this process's clock that never jumps."""

    def requeue_lost_chunks(self, projects: Sequence[FleetProject]) -> list[ChunkName]:
        """Enqueue again the chunks of workers that are dead or hang. A chunk continues at the end of its journal."""
        known = {project.key: project for project in projects}
        gone = dict[str, bool]()
        taken = list[ChunkName]()
        pending = self._list_pending()
        for flow in pending:
            chunk, worker = parse_chunk_name(flow.workflow_id), flow.executor_id or ""
            if chunk is None or worker == self.name or chunk.project not in known:
                continue
            if worker not in gone:
                gone[worker] = is_worker_gone(self.connection, worker)
            if gone[worker]:
                known[chunk.project].queue.release(worker, chunk.task)
                self._requeue_after_death(chunk, worker)
                taken.append(chunk)
            elif self._hangs(flow.workflow_id, known[chunk.project], chunk):
                self._requeue(chunk, worker, "which does not renew its lease")
                taken.append(chunk)
        waiting = {flow.workflow_id for flow in pending}
        self.unleased = {flow: since for flow, since in self.unleased.items() if flow in waiting}
        return taken

    def _list_pending(self) -> "Sequence[WorkflowStatus]":
        return self.client.list_workflows(
            status="PENDING", queue_name=CHUNK_QUEUE, name=CHUNK_WORKFLOW, load_input=False, load_output=False
        )

    def _hangs(self, flow: str, project: FleetProject, chunk: ChunkName) -> bool:
        ticket = find_ticket(project.queue, chunk.task)
        if ticket is None or not ticket.ready:
            self.unleased.pop(flow, None)
            return False
        return time.monotonic() - self.unleased.setdefault(flow, time.monotonic()) >= HUNG_SECONDS

    def _requeue_after_death(self, chunk: ChunkName, worker: str) -> None:
        """What has killed several workers waits a while, so that it does not kill the rest."""
        deaths = count_death(self.connection, chunk.project, chunk.task)
        if deaths < MAX_DEATHS:
            return self._requeue(chunk, worker, "which has died")
        wait = note_fault(self.connection, chunk.project, chunk.task, f"{deaths} workers have died with it")
        self.client.cancel_workflow(chunk.workflow)
        return self.say(f"{chunk.task}: {deaths} workers have died with it; tried again in {wait:.0f} s")

    def _requeue(self, chunk: ChunkName, worker: str, why: str) -> None:
        self.client.resume_workflow(chunk.workflow, queue_name=CHUNK_QUEUE)
        self.unleased.pop(chunk.workflow, None)
        self.say(f"took {chunk.task} over from {describe_worker(worker)}, {why}")
