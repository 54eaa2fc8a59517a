"""Ready tasks are given out once, whoever looks and however often, and nothing that was lost on the way stays lost."""

import os
import pickle
from base64 import b64encode
from contextlib import nullcontext, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from dbos import DBOS

from afresh.app.service.stop_signal import StopSignal
from afresh.core.task import QueueTicket, TaskStatus
from afresh.fleet import worker
from afresh.fleet.dispatch import (
    CHUNK_QUEUE,
    DBOS_SCHEMA,
    MIDDLE_PRIORITY,
    ChunkName,
    choose_dbos_priority,
    enqueue_ready_tasks,
    forget_old_workflows,
    parse_chunk_name,
)
from afresh.fleet.executor_lock import ExecutorLock
from afresh.fleet.run_chunk import ChunkEnd
from afresh.fleet.stored_projects import FleetProject
from afresh.fleet.tables import FIRST_WAIT_SECONDS, clear_faults, count_chunk, note_fault, read_chunks
from afresh.fleet.take_over import TakeOver
from afresh.fleet.workflows import launch_dbos
from support.fakes import FakeClock, MemoryQueue, MemoryStore
from support.sample_journals import create_task


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def project(store: MemoryStore, clock: FakeClock) -> FleetProject:
    return FleetProject("p1", "project", "/remote", MemoryQueue(store, clock))


def set_flow(connection, workflow: str, status: str, worker: str = "") -> None:
    """What DBOS would have written."""
    connection.execute(
        f"UPDATE {DBOS_SCHEMA}.workflow_status SET status = %s, executor_id = %s WHERE workflow_uuid = %s".encode(),
        (status, worker, workflow),
    )


def flows(client) -> dict[str, str]:
    return {one.workflow_id: one.status for one in client.list_workflows(load_input=False, load_output=False)}


def test_a_ready_task_is_enqueued_once_for_its_project(client, connection, project, store) -> None:
    create_task(store, "t1")
    assert enqueue_ready_tasks(client, connection, project) == [ChunkName("p1", "t1", 0)]
    assert enqueue_ready_tasks(client, connection, project) == []
    (flow,) = client.list_workflows()
    assert (flow.workflow_id, flow.queue_name, flow.queue_partition_key) == ("p1/t1:0", CHUNK_QUEUE, "p1")


def test_a_chunk_that_was_counted_and_never_enqueued_is_made_up_for(client, connection, project, store) -> None:
    create_task(store, "t1")
    enqueue_ready_tasks(client, connection, project)
    set_flow(connection, "p1/t1:0", "SUCCESS")
    assert count_chunk(connection, "p1", "t1", 0) == 1  # and then the worker died
    assert enqueue_ready_tasks(client, connection, project) == [ChunkName("p1", "t1", 1)]
    assert flows(client) == {"p1/t1:0": "SUCCESS", "p1/t1:1": "ENQUEUED"}


@pytest.mark.parametrize("ended", ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"])
def test_a_task_that_is_ready_again_gets_a_new_chunk(client, connection, project, store, ended: str) -> None:
    create_task(store, "t1")
    enqueue_ready_tasks(client, connection, project)
    set_flow(connection, "p1/t1:0", ended)
    assert enqueue_ready_tasks(client, connection, project) == [ChunkName("p1", "t1", 1)]


def test_a_task_that_is_held_or_waits_takes_no_place(client, connection, project, store) -> None:
    create_task(store, "t1")
    create_task(store, "t2", needs=("t1",))
    assert project.queue.claim("somebody:1:1", "t1") == "t1"
    assert enqueue_ready_tasks(client, connection, project) == []


def test_a_task_that_failed_to_start_waits_longer_each_time(client, connection, project, store) -> None:
    create_task(store, "t1")
    waits = [note_fault(connection, "p1", "t1", "no model") for _ in range(3)]
    assert waits == [pytest.approx(FIRST_WAIT_SECONDS * factor, abs=1) for factor in (1, 2, 4)]
    assert enqueue_ready_tasks(client, connection, project) == []
    clear_faults(connection, "p1", "t1")
    assert enqueue_ready_tasks(client, connection, project) == [ChunkName("p1", "t1", 0)]


def test_two_who_count_the_same_end_get_the_same_chunk(connection) -> None:
    assert [count_chunk(connection, "p1", "t1", ended) for ended in (0, 0, 1, 0)] == [1, 1, 2, 2]
    assert read_chunks(connection, "p1", ["t1", "t2"])["t1"].number == 2


def test_higher_priority_and_begun_tasks_come_first() -> None:
    def place(priority: int, status: TaskStatus = TaskStatus.READY) -> int:
        return choose_dbos_priority(QueueTicket("t", "g", "x", status, priority, (), True))

    assert place(9) < place(0) < place(-9)
    assert place(-9, TaskStatus.RUNNING) < place(10**9)
    assert place(10**9) > 0


@pytest.mark.parametrize("name", ["", "x", "a/b", "a/b:", "a/b:x", ":1"])
def test_other_workflows_are_no_chunks(name: str) -> None:
    assert parse_chunk_name(name) is None


@pytest.mark.parametrize("key", ["p-1", "example.org/group/name", "5b1e:0/x:1"])
def test_a_chunk_is_known_by_its_name(key: str) -> None:
    chunk = ChunkName(key, "fix.it-2", 12)
    assert parse_chunk_name(chunk.workflow) == chunk


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def watch(client, connection, project, store, said) -> TakeOver:
    create_task(store, "t1")
    enqueue_ready_tasks(client, connection, project)
    return TakeOver("me:1:1", client, connection, said.append)


def test_the_chunk_and_lease_of_a_dead_worker_are_free_at_once(client, connection, project, watch, said) -> None:
    project.queue.claim("host-ab:7:99", "t1")
    set_flow(connection, "p1/t1:0", "PENDING", "host-ab:7:99")
    assert watch.requeue_lost_chunks([project]) == [ChunkName("p1", "t1", 0)]
    assert flows(client) == {"p1/t1:0": "ENQUEUED"} and project.queue.tickets()[0].ready
    assert said == ["took t1 over from process 7 on host, which has died"]


def test_a_living_worker_keeps_its_chunk(client, connection, project, watch, address: str) -> None:
    lock = ExecutorLock(address, "host-ab:7:99")
    lock.take()
    project.queue.claim(lock.name, "t1")
    set_flow(connection, "p1/t1:0", "PENDING", lock.name)
    assert watch.requeue_lost_chunks([project]) == []
    lock.release()


def test_a_worker_with_a_lock_and_without_a_lease_hangs(client, connection, project, watch, clock, address, monkeypatch) -> None:
    lock = ExecutorLock(address, "host-ab:7:99")
    lock.take()
    project.queue.claim(lock.name, "t1")
    set_flow(connection, "p1/t1:0", "PENDING", lock.name)
    clock.move(10_000)
    assert watch.requeue_lost_chunks([project]) == [], "it may be about to renew it"
    monkeypatch.setattr("afresh.fleet.take_over.HUNG_SECONDS", 0.0)
    assert watch.requeue_lost_chunks([project]) == [ChunkName("p1", "t1", 0)]
    lock.release()


def test_its_own_chunks_are_no_business_of_the_watch(client, connection, project, watch) -> None:
    set_flow(connection, "p1/t1:0", "PENDING", "me:1:1")
    assert watch.requeue_lost_chunks([project]) == []


def test_a_task_that_kills_its_workers_waits_after_some_of_them(client, connection, project, watch, said) -> None:
    from afresh.fleet.take_over import MAX_DEATHS

    for death in range(MAX_DEATHS):
        set_flow(connection, "p1/t1:0", "PENDING", f"host-ab:{death + 1}:9")
        watch.requeue_lost_chunks([project])
    assert said[-1].startswith(f"t1: {MAX_DEATHS} workers have died with it; tried again in")
    assert flows(client) == {"p1/t1:0": "CANCELLED"} and enqueue_ready_tasks(client, connection, project) == []
    clear_faults(connection, "p1", "t1")
    assert enqueue_ready_tasks(client, connection, project) == [ChunkName("p1", "t1", 1)]


def test_workflows_that_ended_long_ago_are_forgotten_and_their_tasks_can_be_given_out(client, connection, project, store) -> None:
    for task in ("old", "new", "waiting"):
        create_task(store, task)
    enqueue_ready_tasks(client, connection, project)
    set_flow(connection, "p1/old:0", "SUCCESS")
    set_flow(connection, "p1/new:0", "SUCCESS")
    month = 30 * 86_400_000  # milliseconds
    connection.execute(
        f"UPDATE {DBOS_SCHEMA}.workflow_status SET created_at = created_at - {month}::bigint"
        " WHERE workflow_uuid != 'p1/new:0'".encode()
    )
    assert forget_old_workflows(client) == 1 and forget_old_workflows(client) == 0
    assert flows(client) == {"p1/new:0": "SUCCESS", "p1/waiting:0": "ENQUEUED"}
    assert ChunkName("p1", "old", 0) in enqueue_ready_tasks(client, connection, project)


def test_the_next_chunk_of_a_task_keeps_its_priority(client, connection, project, store, address, tmp_path, monkeypatch) -> None:
    create_task(store, "t1", priority=7)
    stored = SimpleNamespace(list_projects=lambda: [project])
    monkeypatch.setattr(worker, "open_stored_projects", lambda address: nullcontext(stored))
    monkeypatch.setattr(worker, "run_chunk", lambda chunk, *_: ChunkEnd("running", 60, goes_on=chunk.number == 0))
    enqueue_ready_tasks(client, connection, project)
    terms = worker.FleetTerms(address, schedules=False)
    launch_dbos(worker.FleetWorker(terms, ExecutorLock(address, "host-ab:7:99"), tmp_path, StopSignal()))
    try:
        for number in (0, 1):
            client.retrieve_workflow(f"p1/t1:{number}").get_result()
    finally:
        DBOS.destroy(destroy_registry=True)
    chunks = [one for one in client.list_workflows() if not one.workflow_id.startswith("sched-")]  # one fires each full minute
    assert {one.workflow_id: one.priority for one in chunks} == {
        "p1/t1:0": MIDDLE_PRIORITY - 7,
        "p1/t1:1": MIDDLE_PRIORITY - 7,
    }


class RunsCode:
    """Reading it as a pickle makes a folder."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.place),)


def run_flow(
    client, connection, project, store, address: str, folder: Path, monkeypatch: pytest.MonkeyPatch, planted: object
) -> None:
    """A worker takes a chunk whose arguments somebody has replaced in the store."""
    create_task(store, "t1")
    stored = SimpleNamespace(list_projects=lambda: [project])
    monkeypatch.setattr(worker, "open_stored_projects", lambda address: nullcontext(stored))
    monkeypatch.setattr(worker, "run_chunk", lambda chunk, *_: ChunkEnd("running", 60))
    enqueue_ready_tasks(client, connection, project)
    connection.execute(
        f"UPDATE {DBOS_SCHEMA}.workflow_status SET inputs = %s, serialization = 'py_pickle'".encode(),
        (b64encode(pickle.dumps(planted)).decode(),),
    )
    launch_dbos(
        worker.FleetWorker(
            worker.FleetTerms(address, schedules=False), ExecutorLock(address, "host-ab:7:99"), folder, StopSignal()
        )
    )
    try:
        with suppress(Exception):
            client.retrieve_workflow("p1/t1:0").get_result()
    finally:
        DBOS.destroy(destroy_registry=True)


@pytest.mark.promise("who can write to the PostgreSQL of a fleet")
def test_a_worker_runs_no_code_that_is_planted_in_the_store(
    client, connection, project, store, address, tmp_path, monkeypatch
) -> None:
    planted = {"args": (RunsCode(tmp_path / "planted"), "t1", 0), "kwargs": {}}
    run_flow(client, connection, project, store, address, tmp_path, monkeypatch, planted)
    assert not (tmp_path / "planted").exists() and flows(client)["p1/t1:0"] == "ERROR"
