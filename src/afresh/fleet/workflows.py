"""The workflows that DBOS runs in a worker: a chunk of a task, and what is due each minute."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from afresh.app.settings import load_user_settings
from afresh.fleet.dispatch import (
    APPLICATION,
    APPLICATION_VERSION,
    CHUNK_QUEUE,
    CHUNK_WORKFLOW,
    DBOS_SCHEMA,
    ChunkName,
    make_enqueue_options,
)
from afresh.fleet.stored_values import make_json_serializer

if TYPE_CHECKING:
    from afresh.fleet.worker import FleetWorker

POLL_SECONDS = 0.5
"""Between two questions of DBOS for a chunk."""
SCHEDULE_WORKFLOW = "fire_schedules"
SCHEDULE_QUEUE = "afresh-schedules"
"""Of its own: a worker that leaves schedules to others does not listen to it, and one runs them one after another."""
SCHEDULE_POLL_SECONDS = 5.0
EVERY_MINUTE = "* * * * *"
THREADS = 4


def launch_dbos(worker: "FleetWorker") -> Callable[[], None]:
    """Start to take chunks. Returns what ends it."""
    from dbos import DBOS

    DBOS(
        config={
            "name": APPLICATION,
            "system_database_url": worker.terms.address,
            "dbos_system_schema": DBOS_SCHEMA,
            "executor_id": worker.lock.name,
            "application_version": APPLICATION_VERSION,
            "console_log_level": "CRITICAL",
            "sys_db_pool_size": THREADS,
            "max_executor_threads": THREADS,
            "sys_db_idle_transaction_timeout_sec": 5.0,
            "enable_otlp": False,
            "serializer": make_json_serializer(),
        }
    )
    fire = register_workflows(worker)
    DBOS.listen_queues([CHUNK_QUEUE, *([SCHEDULE_QUEUE] if worker.terms.schedules else [])])
    DBOS.launch()
    DBOS.register_queue(
        CHUNK_QUEUE,
        worker_concurrency=1,
        partition_concurrency=load_user_settings().fleet.tasks_per_project,
        polling_interval_sec=POLL_SECONDS,
    )
    DBOS.register_queue(SCHEDULE_QUEUE, worker_concurrency=1, polling_interval_sec=SCHEDULE_POLL_SECONDS)
    DBOS.apply_schedules(
        [{"schedule_name": SCHEDULE_WORKFLOW, "workflow_fn": fire, "schedule": EVERY_MINUTE, "queue_name": SCHEDULE_QUEUE}]
    )
    return DBOS.destroy


def register_workflows(worker: "FleetWorker") -> Callable[[datetime, Any], None]:
    from dbos import DBOS

    @DBOS.step(name="take_chunk")
    def take(project: str, task: str, number: int) -> dict[str, Any]:
        return worker.take_chunk(project, task, number)

    @DBOS.workflow(name=CHUNK_WORKFLOW)
    def advance_chunk(project: str, task: str, number: int) -> dict[str, Any]:
        """One step, and the next chunk. What it branches on is the step's result alone."""
        end = take(project, task, number)
        if "next" in end:
            following = ChunkName(project, task, end["next"])
            options = make_enqueue_options(following, end["priority"])
            DBOS.enqueue_workflow_with_options(options, project, task, following.number)
        return end

    @DBOS.step(name="fire_due")
    def fire() -> None:
        worker.fire_due()

    @DBOS.workflow(name=SCHEDULE_WORKFLOW)
    def fire_schedules(due: datetime, context: Any) -> None:
        """DBOS begins it once in the fleet for each minute."""
        fire()

    return fire_schedules
