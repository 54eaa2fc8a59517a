"""What the queue costs at 10, 1,000 and 100,000 tasks: claims beside a bare UPDATE … RETURNING and beside peers, queries, `add`
and `status`.

    AFRESH_BENCH_PEERS=PYTHON python bench/queues.py [--tasks N]

PYTHON is that of an environment with huey and persist-queue; without it they are left out. A plain DBOS queue stands beside
them. It is not called `queue.py`, because that would hide Python's own module from every benchmark.
"""

import argparse
import json
import os
import platform
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from afresh.app.project import open_project
from afresh.app.queue.read_tasks import SystemClock
from afresh.core.task import TaskStatus, TicketOrder, TicketQuery
from afresh.ports.storage import Storage
from afresh.storage.sqlite.storage import open_sqlite_storage
from afresh.testing.sample_journals import create_task, end_task
from ceilings import check_books
from fleets.dbos_queue import measure_dbos_queue

RESULT = Path(__file__).parent / "results" / "queue.json"
PEERS = os.environ.get("AFRESH_BENCH_PEERS", "")
ROUNDS = 9
CLAIMS_PER_ROUND = 40
PROCESSES = 8
CLAIMS_PER_PROCESS = 100
ENDINGS = (TaskStatus.APPLIED, TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.DISCARDED, None, None)
"""A third of the tasks is ready."""
BARE_CLAIM = (
    "UPDATE job SET status = 'running', worker = ? WHERE id = (SELECT id FROM job WHERE status = 'ready'"
    " ORDER BY priority DESC, id LIMIT 1) RETURNING id"
)
CLAIMERS = {
    "afresh": """
from pathlib import Path
from afresh.app.queue.read_tasks import SystemClock
from afresh.storage.sqlite.storage import open_sqlite_storage
queue = open_sqlite_storage(Path(folder), Path(folder) / "user", SystemClock()).queue
claim = lambda: queue.claim(f"worker {name}")
""",
    "bare": f"""
import sqlite3
base = sqlite3.connect(folder + "/bare.db", isolation_level=None, timeout=60)
base.execute("PRAGMA synchronous = FULL")
claim = lambda: base.execute({BARE_CLAIM!r}, (name,)).fetchall()[0][0]
""",
    "huey": """
from huey.storage import SqliteStorage
store = SqliteStorage("jobs", filename=folder + "/huey.db", fsync=True, timeout=60)
if name == "fill":
    for number in range(count):
        store.enqueue(b"job %d" % number, number % 3)
claim = store.dequeue
""",
    "persist-queue": """
from persistqueue import SQLiteQueue
queue = SQLiteQueue(folder + "/persist", auto_commit=True, multithreading=True, timeout=60)
if name == "fill":
    for number in range(count):
        queue.put("job %d" % number)
claim = lambda: queue.get(block=False)
""",
}
TIME_CLAIMS = """
import json, sys, time
folder, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
{claimer}
took, got = [], []
while name != "fill" and len(took) < count:
    began = time.perf_counter()
    one = claim()
    took.append(time.perf_counter() - began)
    got.append(str(one))
print(json.dumps([took, got]))
"""


def fill_queue(storage: Storage, tasks: int, waiting: bool = False) -> None:
    for first in range(0, tasks, 1_000):
        with storage.transaction():
            for number in range(first, min(tasks, first + 1_000)):
                needs = ("the-one",) if waiting else ()
                state = create_task(storage.journal, f"task-{number:06}", number % 3, needs)
                if not waiting and (status := ENDINGS[number % len(ENDINGS)]):
                    end_task(storage.journal, state, status)


def open_filled(folder: Path, tasks: int, waiting: bool = False) -> Storage:
    folder.mkdir()
    storage = open_sqlite_storage(folder, folder / "user", SystemClock())
    fill_queue(storage, tasks, waiting)
    return storage


def open_bare(folder: Path, tasks: int) -> sqlite3.Connection:
    base = sqlite3.connect(folder / "bare.db", isolation_level=None)
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("PRAGMA synchronous = FULL")
    base.execute("CREATE TABLE job (id INTEGER PRIMARY KEY, status TEXT, priority INTEGER, worker TEXT)")
    base.execute("CREATE INDEX job_turn ON job (status, priority DESC, id)")
    statuses = [str(status or "ready") for status in ENDINGS]
    base.execute("BEGIN")
    for number in range(tasks):
        base.execute("INSERT INTO job VALUES (?, ?, ?, '')", (number, statuses[number % len(statuses)], number % 3))
    base.execute("COMMIT")
    return base


def time_call(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - began)


def compare_claims(storage: Storage, base: sqlite3.Connection) -> dict[str, Any]:
    """Rounds in turns; each of our claims is given back, so that the next one finds the same queue."""
    ours, bare = list[float](), list[float]()
    for _ in range(ROUNDS):
        taken = list[float]()
        for _ in range(CLAIMS_PER_ROUND):
            taken.append(time_call(lambda: storage.queue.claim("worker")))
            task = storage.queue.tickets(TicketQuery((TaskStatus.READY,), order=TicketOrder.TURN, most=1))[0].task
            storage.queue.release("worker", task)
        ours.append(statistics.median(taken))
        bare.append(
            statistics.median(
                time_call(lambda: base.execute(BARE_CLAIM, ("worker",)).fetchall()) for _ in range(CLAIMS_PER_ROUND)
            )
        )
    ratio = statistics.median(one / other for one, other in zip(ours, bare, strict=True))
    return {"claim_ms": statistics.median(ours), "bare_ms": statistics.median(bare), "ratio": ratio, "target": 2.0}


def claim_by_processes(python: str, claimer: str, folder: Path) -> dict[str, Any]:
    code = TIME_CLAIMS.format(claimer=CLAIMERS[claimer])
    started = [
        subprocess.Popen(
            [python, "-c", code, str(folder), str(number), str(CLAIMS_PER_PROCESS)], stdout=subprocess.PIPE, cwd=folder
        )
        for number in range(PROCESSES)
    ]
    found = [json.loads(process.communicate()[0] or b"[[], []]") for process in started]
    took, got = sorted(one for took, _ in found for one in took), [one for _, claimed in found for one in claimed]
    if len(took) < PROCESSES * CLAIMS_PER_PROCESS:
        return {"claimer": claimer, "failed": f"{len(took)} of {PROCESSES * CLAIMS_PER_PROCESS} claims"}
    return {
        "claimer": claimer,
        "p50_ms": 1e3 * took[len(took) // 2],
        "p99_ms": 1e3 * took[len(took) * 99 // 100],
        "claimed_twice": len(got) - len(set(got)),
    }


def compare_processes(folder: Path, tasks: int) -> list[dict[str, Any]]:
    rows = [claim_by_processes(sys.executable, name, folder) for name in ("afresh", "bare")]
    for name in ("huey", "persist-queue") if PEERS else ():
        fill = TIME_CLAIMS.format(claimer=CLAIMERS[name])
        made = subprocess.run([PEERS, "-c", fill, str(folder), "fill", str(min(tasks, 2_000))], cwd=folder, capture_output=True)
        rows.append(claim_by_processes(PEERS, name, folder) if made.returncode == 0 else {"claimer": name, "failed": "to fill"})
    rows.append(measure_dbos_queue(PROCESSES, CLAIMS_PER_PROCESS))
    return rows if PEERS else [*rows, {"claimer": "huey, persist-queue", "failed": "left out: AFRESH_BENCH_PEERS is not set"}]


def time_queries(storage: Storage) -> dict[str, float]:
    queue, ready = storage.queue, (TaskStatus.READY,)
    queries: dict[str, Callable[[], Any]] = {
        "counts": queue.counts,
        "one task by its id": lambda: queue.tickets(TicketQuery(prefix="task-000500")),
        "20 of a status, oldest": lambda: queue.tickets(TicketQuery(ready, parents=(), most=20)),
        "20 of a status, newest": lambda: queue.tickets(TicketQuery(ready, parents=(), order=TicketOrder.NEWEST, most=20)),
        "20 of a status, by turn": lambda: queue.tickets(TicketQuery(ready, parents=(), order=TicketOrder.TURN, most=20)),
        "20 touched last": lambda: queue.tickets(TicketQuery(parents=(), order=TicketOrder.TOUCHED, most=20)),
        "parts of 20 tasks": lambda: queue.tickets(TicketQuery(parents=tuple(f"task-{one:06}" for one in range(20)))),
        "claim and release": lambda: queue.release("worker", queue.claim("worker") or ""),
    }
    return {name: statistics.median(time_call(query) for _ in range(21)) for name, query in queries.items()}


def time_waiting(folder: Path, tasks: int) -> dict[str, float]:
    """All tasks wait for one."""
    storage = open_filled(folder, tasks, waiting=True)
    idle = statistics.median(time_call(lambda: storage.queue.claim("worker")) for _ in range(21))
    state = create_task(storage.journal, "the-one")
    released = time_call(lambda: end_task(storage.journal, state, TaskStatus.DONE))
    return {"claim_while_all_wait_ms": idle, "commit_that_releases_all_ms": released}


def time_commands(folder: Path, tasks: int) -> dict[str, float]:
    """CPU of whole processes, in a project with so many tasks."""
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    for command in ("init -q .", "add .", "-c user.name=a -c user.email=a@b.c commit -qm start"):
        subprocess.run(["git", *command.split()], cwd=folder, check=True)
    home = {"XDG_DATA_HOME": str(folder / ".home"), "XDG_CONFIG_HOME": str(folder / ".home")}
    os.environ.update(home)
    project = open_project(folder)
    fill_queue(project.storage, tasks)
    project.storage.close()

    def spend(*words: str) -> float:
        before = os.times()
        subprocess.run([sys.executable, "-m", "afresh.cli.main", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        return 1e3 * (after.children_user + after.children_system - before.children_user - before.children_system)

    add = ("add", "another task", "--check", "true", "--force")
    for _ in range(7):
        spend(*add)  # the first ones fill the list of those who continue, and the index of facts
    spent = {"add_ms": statistics.median(spend(*add) for _ in range(ROUNDS))}
    spent["add_before_all_others_ms"] = statistics.median(spend(*add, "--priority", str(9 + n)) for n in range(3))
    spent["status_ms"] = statistics.median(spend("status") for _ in range(ROUNDS))
    check_books(folder)
    return spent


def main(words: Sequence[str] | None = None) -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--tasks", type=int, default=100_000)
    tasks = options.parse_args(words).tasks
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        found: dict[str, Any] = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version, "tasks": tasks}
        storage, base = open_filled(at / "many", tasks), open_bare(at / "many", tasks)
        found["claims"] = compare_claims(storage, base)
        found["queries_ms"] = time_queries(storage)
        storage.close()
        base.close()
        found["processes"] = compare_processes(at / "many", tasks)
        found["waiting"] = time_waiting(at / "waiting", tasks)
        counts = sorted({10, 1_000, tasks})
        found["commands_cpu"] = {str(count): time_commands(at / f"project-{count}", count) for count in counts}
    RESULT.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
