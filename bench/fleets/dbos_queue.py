"""A plain DBOS queue on PostgreSQL, for bench/queues.py: processes take empty jobs, one at a time. DBOS has no call that only
claims: a claim here is the time from one job's begin to the next one's in the same process (take, begin, record the end)."""

import json
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from fleets.server import PostgresServer, find_free_port

QUEUE = "jobs"
VERSION = "bench"
IDLE_SECONDS = 5.0
"""A process that has got no job for so long ends."""


def measure_dbos_queue(processes: int, claims: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="afresh-dbos-") as folder:
        Path(folder).chmod(0o755)
        server = PostgresServer(Path(folder) / "postgres", find_free_port())
        server.make()
        server.start()
        try:
            return _measure(server.address, processes, claims)
        finally:
            server.stop()


def _measure(address: str, processes: int, claims: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "fleets.dbos_queue", address]
    here = Path(__file__).parents[1]
    subprocess.run([*command, "fill", str(processes * claims)], cwd=here, check=True)
    started = [
        subprocess.Popen([*command, f"worker-{number}", "0"], cwd=here, stdout=subprocess.PIPE) for number in range(processes)
    ]
    found = [json.loads(one.communicate()[0] or b"[[], []]") for one in started]
    took, got = sorted(one for took, _ in found for one in took), [one for _, taken in found for one in taken]
    if len(got) < processes * claims:
        return {"claimer": "DBOS", "failed": f"{len(got)} of {processes * claims} claims"}
    return {
        "claimer": "DBOS (PostgreSQL; take, begin and end of an empty job)",
        "p50_ms": 1e3 * took[len(took) // 2],
        "p99_ms": 1e3 * took[len(took) * 99 // 100],
        "claimed_twice": len(got) - len(set(got)),
    }


def main(address: str, name: str, count: int) -> None:
    from dbos import DBOS

    DBOS(
        config={
            "name": "bench",
            "system_database_url": address,
            "executor_id": name,
            "application_version": VERSION,
            "console_log_level": "CRITICAL",
        }
    )
    began, got = list[float](), list[str]()

    @DBOS.workflow(name="job")
    def job(number: int) -> None:
        began.append(time.perf_counter())
        got.append(str(number))

    DBOS.listen_queues([QUEUE] if name != "fill" else [])
    DBOS.launch()
    DBOS.register_queue(QUEUE, worker_concurrency=1, polling_interval_sec=0.001)
    for number in range(count):
        DBOS.enqueue_workflow_with_options({"workflow_name": "job", "queue_name": QUEUE, "app_version": VERSION}, number)
    seen, since = 0, time.monotonic()
    while name != "fill" and (len(got) != seen or time.monotonic() - since < IDLE_SECONDS):
        seen, since = len(got), since if len(got) == seen else time.monotonic()
        time.sleep(0.05)
    if name != "fill":
        print(json.dumps([[after - before for before, after in pairwise(began)], got]))
    DBOS.destroy()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
