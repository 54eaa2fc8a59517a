"""What a step and a claim cost on PostgreSQL beside SQLite, and how many steps a second one server carries.

    python bench/postgres.py [--steps 100] [--seconds 5]

The server is started for the run with its usual durability (fsync on), on this machine: a network adds its round trips, which are
counted. A step is two commits with short texts, so what is measured is the way to the disk and back.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import psycopg

from afresh.app.queue.read_tasks import SystemClock
from afresh.ports.storage import Storage
from afresh.storage.postgres.connection import PostgresConnection
from afresh.storage.postgres.storage import PostgresProject, open_postgres_storage
from afresh.storage.sqlite.storage import open_sqlite_storage
from afresh.testing.postgres_server import share_postgres
from afresh.testing.sample_journals import append_step, create_task

RESULTS = Path(__file__).parent / "results" / "postgres.json"
PROCESSES = (1, 4, 16)
SIZE_SQL = "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class WHERE relkind = 'r' AND relnamespace = %s::regnamespace"
WORKER = """
import sys, time
from afresh.app.queue.read_tasks import SystemClock
from afresh.storage.postgres.storage import PostgresProject, open_postgres_storage
from afresh.testing.sample_journals import append_step, create_task
address, key, name, seconds = sys.argv[1:]
storage = open_postgres_storage(address, PostgresProject(key), SystemClock())
state = append_step(storage.journal, create_task(storage.journal, name))
print("ready", flush=True)
sys.stdin.readline()
until, taken = time.monotonic() + float(seconds), []
while time.monotonic() < until:
    begun = time.perf_counter()
    state = append_step(storage.journal, state)
    taken.append(time.perf_counter() - begun)
print(len(taken), sorted(taken)[len(taken) * 99 // 100] * 1000)
"""


def measure_storage(storage: Storage, steps: int) -> dict[str, float]:
    """Median milliseconds of a step (two or three commits) and of a claim with its release."""
    state, times, claims = create_task(storage.journal, "timed"), list[float](), list[float]()
    for _ in range(steps):
        begun = time.perf_counter()
        state = append_step(storage.journal, state)
        times.append(time.perf_counter() - begun)
    for number in range(steps):
        create_task(storage.journal, f"claimed-{number}")
    for number in range(steps):
        begun = time.perf_counter()
        storage.queue.claim(f"elsewhere:{number}:1")
        claims.append(time.perf_counter() - begun)
    return {"step_ms": statistics.median(times) * 1000, "claim_ms": statistics.median(claims) * 1000}


def count_round_trips(address: str) -> dict[str, int]:
    """How often a step and a claim wait for the server."""
    storage, found = open_postgres_storage(address, PostgresProject("trips"), SystemClock()), list[str]()
    state = append_step(storage.journal, create_task(storage.journal, "one"))
    execute, script = PostgresConnection.execute, PostgresConnection.run_script
    PostgresConnection.execute = lambda self, *a: (found.append("e"), execute(self, *a))[1]  # type: ignore[method-assign]
    PostgresConnection.run_script = lambda self, *a: (found.append("s"), script(self, *a))[1]  # type: ignore[method-assign]
    append_step(storage.journal, state)
    step, _ = len(found), found.clear()
    storage.queue.claim("elsewhere:1:1")
    PostgresConnection.execute, PostgresConnection.run_script = execute, script
    storage.close()
    return {"step_round_trips": step, "claim_round_trips": len(found)}


def measure_size(address: str, key: str, steps: int) -> float:
    """Bytes that a step adds to the project's tables and indexes."""
    storage = open_postgres_storage(address, PostgresProject(key), SystemClock())
    state = create_task(storage.journal, "sized")
    sizes = []
    for _ in range(2):
        with psycopg.connect(address, autocommit=True) as asked:
            asked.execute("CHECKPOINT")
            summed = (
                "SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
            )
            row = asked.execute(f"{summed} WHERE relkind = 'r' AND nspname = %s", (PostgresProject(key).schema,)).fetchone()
        sizes.append(row[0] if row else 0)
        for _ in range(steps):
            state = append_step(storage.journal, state)
    storage.close()
    return (sizes[1] - sizes[0]) / steps


def measure_throughput(address: str, processes: int, seconds: float, projects: int) -> dict[str, float]:
    """Steps a second of so many processes together, in one project or in several."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, address, f"load-{processes}-{projects}-{n % projects}", f"task-{n}", str(seconds)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for n in range(processes)
    ]  # fmt: skip
    for one in started:
        assert one.stdout and one.stdout.readline() == "ready\n"
    for one in started:
        assert one.stdin
        one.stdin.write("go\n")
        one.stdin.flush()
    found = [one.communicate()[0].split() for one in started]
    return {"steps_per_second": sum(int(steps) for steps, _ in found) / seconds, "p99_ms": max(float(late) for _, late in found)}


def run_all(steps: int, seconds: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "lock"
        address = share_postgres(lock, ("fsync=on", "autovacuum=on"))
        with psycopg.connect(address) as asked:
            version = asked.execute("SELECT current_setting('server_version')").fetchone()
        server = open_postgres_storage(address, PostgresProject("timed"), SystemClock())
        files = open_sqlite_storage(Path(folder), Path(folder) / "user", SystemClock())
        found: dict[str, Any] = {
            "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}, PostgreSQL {version and version[0]}",
            "steps": steps,
            "sqlite": measure_storage(files, steps),
            "postgres": measure_storage(server, steps) | count_round_trips(address),
        }
        server.close()
        found["postgres"]["bytes_per_step"] = measure_size(address, "sized", steps)
        found["one_project"] = {count: measure_throughput(address, count, seconds, 1) for count in PROCESSES}
        found["four_projects"] = {count: measure_throughput(address, count, seconds, 4) for count in PROCESSES[1:]}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=5.0)
    given = parser.parse_args()
    found = run_all(given.steps, given.seconds)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
