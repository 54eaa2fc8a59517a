"""Many processes, one queue: real ones, killed and stopped."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from afresh.core import event as happened
from afresh.core.task import TaskStatus
from afresh.errors import BadInput, LeaseLost
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.queue import SqlQueue
from afresh.storage.sqlite.database import Database
from afresh.storage.sqlite.storage import open_sqlite_journal
from support.fakes import FakeClock
from support.sample_journals import append_events, create_task

HEADER = """
import sys, time
from pathlib import Path
from afresh.storage.sql.queue import SqlQueue
from afresh.storage.renew_lease import identify_worker
from afresh.storage.sqlite.database import Database
from afresh.storage.sql.journal import SqlJournal
from afresh.core import event as happened
from afresh.core.task import TaskStatus
from afresh.errors import Conflict
from support.sample_journals import append_events, end_task
database = Database(Path(sys.argv[1]))
class Wall:
    def now(self): return time.time()
store, queue, me = SqlJournal(database), SqlQueue(database, Wall()), (sys.argv[2:] or [identify_worker()])[0]
"""

EMPTY_THE_QUEUE = """
sys.stdin.read(1)
while task := queue.claim(me):
    state = append_events(store, store.load(task), [happened.TaskClaimed(me)])
    print(task, flush=True)
    end_task(store, state, TaskStatus.DONE)
    queue.release(me, task)
"""

CLAIM_AND_HOLD = """
task = queue.claim(me)
state = append_events(store, store.load(task), [happened.TaskClaimed(me)])
print(me, flush=True)
sys.stdin.read(1)
try:
    append_events(store, state, [happened.StepFinished(1, "by the old owner")])
    print("written", flush=True)
except Conflict:
    print("conflict", flush=True)
"""


class Wall:
    def now(self) -> float:
        return time.time()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "afresh.db"


def python(script: str, path: Path, *name: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", HEADER + script, path, *name]
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)


def said(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def test_eight_processes_take_each_of_forty_tasks_exactly_once(path: Path) -> None:
    store = open_sqlite_journal(path)
    names = [f"task{number}" for number in range(40)]
    for name in names:
        create_task(store, name)
    workers = [python(EMPTY_THE_QUEUE, path) for _ in range(8)]
    for worker in workers:
        assert worker.stdin
        worker.stdin.write("x")
        worker.stdin.flush()
    taken = Counter(line for worker in workers for line in worker.communicate()[0].split())
    assert taken == Counter(names)
    for name in names:
        claims = [entry for entry in store.journal(name) if isinstance(entry.event, happened.TaskClaimed)]
        assert len(claims) == 1 and store.load(name).status is TaskStatus.DONE


def test_the_task_of_a_killed_worker_is_taken_over_at_once(path: Path) -> None:
    database = Database(path)
    queue, store = SqlQueue(database, Wall(), lease_seconds=3_600), SqlJournal(database)
    create_task(store)
    owner = python(CLAIM_AND_HOLD, path)
    name = said(owner)
    with pytest.raises(BadInput, match=f"process {name.split(':')[1]} on this machine"):
        queue.claim("me", "one")
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    (ticket,) = queue.tickets()
    assert ticket.status is TaskStatus.RUNNING and ticket.ready and ticket.owner == ""
    assert queue.claim("me") == "one"


def test_a_stopped_owner_on_this_machine_keeps_its_task(path: Path) -> None:
    database, clock = Database(path), FakeClock(time.time())
    queue, store = SqlQueue(database, clock), SqlJournal(database)
    create_task(store)
    owner = python(CLAIM_AND_HOLD, path)
    name = said(owner)
    owner.send_signal(signal.SIGSTOP)
    clock.move(86_400)
    assert queue.claim("me") is None
    owner.send_signal(signal.SIGCONT)
    owner.communicate("x")
    clock.move(86_400)
    assert queue.claim("me") == "one", "it ended without releasing it"
    with pytest.raises(LeaseLost):
        queue.renew(name, "one")


def test_a_stopped_owner_elsewhere_that_wakes_up_late_can_write_no_more(path: Path) -> None:
    database, clock = Database(path), FakeClock(time.time())
    queue, store = SqlQueue(database, clock), SqlJournal(database)
    create_task(store)
    owner = python(CLAIM_AND_HOLD, path, "elsewhere:1:1")
    name = said(owner)
    owner.send_signal(signal.SIGSTOP)
    assert queue.claim("me") is None
    clock.move(60)
    assert queue.claim("me") == "one"
    state = append_events(store, store.load("one"), [happened.TaskClaimed("me")])
    owner.send_signal(signal.SIGCONT)
    assert owner.stdin
    owner.stdin.write("x")
    owner.stdin.flush()
    assert said(owner) == "conflict"
    owner.communicate()
    assert store.load("one") == state
    with pytest.raises(LeaseLost):
        queue.renew(name, "one")


def test_every_taking_has_a_greater_token(path: Path) -> None:
    database, clock = Database(path), FakeClock()
    queue = SqlQueue(database, clock)
    create_task(SqlJournal(database))
    tokens: list[int] = []
    for worker in "abc":
        queue.claim(worker, "one")
        with database.reading() as connection:
            tokens += connection.execute("SELECT token FROM lease").fetchone()
        if worker == "a":
            queue.release(worker, "one")
        clock.move(100)
    assert tokens == [1, 2, 3]
