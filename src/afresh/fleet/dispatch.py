"""Gives tasks out by DBOS. The projects' own queues are the truth: what is given out follows from them, again and again. So a
crash between a commit there and an enqueueing here loses nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from afresh.core.task import QueueTicket, TaskStatus, TicketOrder, TicketQuery
from afresh.fleet.stored_projects import FleetProject
from afresh.fleet.stored_values import make_json_serializer
from afresh.fleet.tables import count_chunk, read_chunks

if TYPE_CHECKING:
    from dbos import DBOSClient
    from psycopg import Connection

APPLICATION = "afresh"
APPLICATION_VERSION = "afresh-fleet-1"
"""Pinned: by default it is a hash of the source, and an update of afresh would leave tasks behind. Raised when the arguments of a
chunk change."""
DBOS_SCHEMA = "afresh_dbos"
CHUNK_QUEUE = "afresh-tasks"
CHUNK_WORKFLOW = "advance_chunk"
WAITING_STATUSES = ("ENQUEUED", "DELAYED", "PENDING")
"""States of a workflow that has not ended."""
ENDED_STATUSES = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
KEPT_DAYS = 7
MAX_FORGOTTEN = 500
"""Most workflows that are deleted at a time."""
MAX_GIVEN_OUT = 32
"""Tasks of a project that wait in DBOS at a time: the rest waits in the project's queue, where a person can change its order."""
MIDDLE_PRIORITY = 3_000_000
"""DBOS begins with the lowest number, afresh with the highest."""
MAX_PRIORITY = 1_000_000
"""Beyond it all tasks are equal."""
BEGUN_PRIORITY = 2 * MAX_PRIORITY
"""How much earlier a task comes that was begun."""


@dataclass(frozen=True, slots=True)
class ChunkName:
    """A chunk, as the id of its workflow names it: the same for everybody who gives it out."""

    project: str
    task: str
    number: int

    @property
    def workflow(self) -> str:
        return f"{self.project}/{self.task}:{self.number}"


def parse_chunk_name(workflow: str) -> ChunkName | None:
    """None: the workflow is no chunk of a task."""
    rest, _, number = workflow.rpartition(":")
    project, slash, task = rest.rpartition("/")  # a key may hold slashes, a task's id has none
    return ChunkName(project, task, int(number)) if slash and number.isdigit() else None


def choose_dbos_priority(ticket: QueueTicket) -> int:
    ours = max(1 - MAX_PRIORITY, min(MAX_PRIORITY - 1, ticket.priority))
    return MIDDLE_PRIORITY - ours - (BEGUN_PRIORITY if ticket.status is TaskStatus.RUNNING else 0)


def make_enqueue_options(chunk: ChunkName, priority: int) -> Any:
    return {
        "workflow_name": CHUNK_WORKFLOW,
        "queue_name": CHUNK_QUEUE,
        "workflow_id": chunk.workflow,
        "queue_partition_key": chunk.project,
        "priority": priority,
        "app_version": APPLICATION_VERSION,
    }


def list_ready_tasks(project: FleetProject) -> Sequence[QueueTicket]:
    """Tasks that can be worked on now, interrupted ones first."""
    tickets = [
        ticket
        for status in (TaskStatus.RUNNING, TaskStatus.READY)
        for ticket in project.queue.tickets(TicketQuery((status,), parents=(), order=TicketOrder.TURN, most=MAX_GIVEN_OUT))
    ]
    return [ticket for ticket in tickets if ticket.ready][:MAX_GIVEN_OUT]


def enqueue_ready_tasks(client: "DBOSClient", connection: "Connection", project: FleetProject) -> list[ChunkName]:
    """Enqueue a chunk of each ready task that has none on its way. Safe to repeat, and for several at once: the id of a workflow
    follows from the task, and an id that is there is not enqueued again."""
    ready = {ticket.task: ticket for ticket in list_ready_tasks(project)}
    chunks = read_chunks(connection, project.key, list(ready))
    names = {task: ChunkName(project.key, task, chunk.number) for task, chunk in chunks.items() if chunk.due}
    statuses = read_statuses(client, [name.workflow for name in names.values()])
    enqueued = list[ChunkName]()
    for task, name in names.items():
        status = statuses.get(name.workflow)
        if status in WAITING_STATUSES:
            continue
        if status is not None:
            name = ChunkName(name.project, task, count_chunk(connection, project.key, task, name.number))
        client.enqueue(make_enqueue_options(name, choose_dbos_priority(ready[task])), project.key, task, name.number)
        enqueued.append(name)
    return enqueued


def read_statuses(client: "DBOSClient", workflows: list[str]) -> dict[str, str]:
    if not workflows:
        return {}
    found = client.list_workflows(workflow_ids=workflows, load_input=False, load_output=False)
    return {status.workflow_id: status.status for status in found}


def forget_old_workflows(client: "DBOSClient") -> int:
    """Delete what DBOS keeps of workflows that were given out long ago and have ended: the journal has it all. Their number."""
    before = datetime.now(UTC) - timedelta(days=KEPT_DAYS)
    workflows = client.list_workflows(
        status=[*ENDED_STATUSES], end_time=before.isoformat(), limit=MAX_FORGOTTEN, load_input=False, load_output=False
    )
    if workflows:
        client.delete_workflows([status.workflow_id for status in workflows])
    return len(workflows)


def open_client(address: str) -> "DBOSClient":
    """A client that never runs a workflow, and raises at once if the server is gone."""
    from dbos import DBOSClient

    return DBOSClient(
        system_database_url=address,
        dbos_system_schema=DBOS_SCHEMA,
        application_name=APPLICATION,
        system_database_pool_size=1,
        retry_connection_errors=False,
        sys_db_idle_transaction_timeout_sec=5.0,
        serializer=make_json_serializer(),
    )
