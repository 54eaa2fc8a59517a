"""A host of the fleet, as the fault harness starts it: a real worker with a name of its own, a clock that can jump, and a slow
model. What it does is written down with the time of this machine, beside all that the program itself keeps.

Run by the harness: `python -m fleets.host group|worker JSON`, with what is below in the environment.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

HOST = os.environ.get("FLEET_BENCH_HOST", "")
FOLDER = Path(os.environ.get("FLEET_BENCH_FOLDER", "."))
CALL_SECONDS = float(os.environ.get("FLEET_BENCH_CALL_SECONDS", "0.5"))
LEASE_SECONDS = float(os.environ.get("FLEET_BENCH_LEASE_SECONDS", "20"))
MODULE = os.environ.get("FLEET_BENCH_MODULE", "fleets.host")
BROKEN = os.environ.get("FLEET_BENCH_BROKEN", "")
"""What is turned off in a broken twin: `fencing`, `lock` or `takeover`."""
real_time = time.time


def note(kind: str, **what: Any) -> None:
    line = json.dumps({"at": real_time(), "host": HOST, "kind": kind, **what}) + "\n"
    with (FOLDER / "events.jsonl").open("ab", buffering=0) as log:
        log.write(line.encode())


def let_the_clock_jump() -> None:
    """The clock of this process is off by what a file says, from one moment to the next."""
    offset = FOLDER / f"{HOST}.clock"

    def jumping() -> float:
        try:
            return real_time() + float(offset.read_text() or 0)
        except (OSError, ValueError):
            return real_time()

    time.time = jumping


def name_this_host() -> None:
    from afresh.storage import renew_lease

    renew_lease._identify_host = lambda: f"{HOST}-bench"


def slow_down_the_model() -> None:
    from afresh.app import compose
    from afresh.models.scripted import ScriptedModel

    propose, advance = ScriptedModel.propose, compose.advance_task
    current = {"task": ""}

    def slow(self: Any, request: Any, *more: Any) -> Any:
        number = self.position + 1
        note("call", task=current["task"], number=number)
        until = time.monotonic() + CALL_SECONDS
        while time.monotonic() < until:
            time.sleep(0.02)
        reply = propose(self, request, *more)
        note("reply", task=current["task"], number=number)
        return reply

    def noted(task: str, *more: Any) -> Any:
        current["task"] = task
        note("begin", task=task)
        try:
            return advance(task, *more)
        finally:
            note("end", task=task)

    ScriptedModel.propose = slow
    compose.advance_task = noted


def break_something() -> None:
    """The broken twins: with any of these the harness must report what is wrong."""
    from afresh.fleet import executor_lock, take_over, worker
    from afresh.storage import renew_lease

    if BROKEN == "lock":  # everybody counts as dead, and nobody stops
        take_over.is_worker_gone = lambda connection, name: True
        renew_lease.LeaseRenewal.check = lambda self: None
        executor_lock.ExecutorLock.check = lambda self: None
    if BROKEN == "takeover":
        take_over.TakeOver.requeue_lost_chunks = lambda self, projects: []
    if BROKEN == "fencing":
        from fleets.broken_store import write_without_fencing

        write_without_fencing()
    assert worker


def add_times() -> None:
    from afresh.fleet.worker import FleetWorker

    say = FleetWorker.say
    FleetWorker.say = lambda self, text: say(self, f"{time.strftime('%H:%M:%S')} {text}")


def shorten_leases() -> None:
    from afresh.storage.sql import queue

    queue.SqlQueue.__init__.__defaults__ = (LEASE_SECONDS,)


def main(arguments: list[str]) -> int:
    let_the_clock_jump()
    name_this_host()
    slow_down_the_model()
    shorten_leases()
    add_times()
    break_something()
    from afresh.fleet.worker import FleetTerms, work_in_fleet
    from afresh.fleet.worker_group import WorkerGroup

    terms = FleetTerms(**json.loads(arguments[1]))
    if arguments[0] == "worker":
        note("start", pid=os.getpid())
        try:
            return work_in_fleet(terms)
        except Exception as fault:
            print(f"afresh: {fault}", file=sys.stderr)
            return 1

    def start(given: FleetTerms) -> "subprocess.Popen[bytes]":  # the same process group: all of a host dies or stops at once
        return subprocess.Popen([sys.executable, "-m", MODULE, "worker", json.dumps(asdict(given))])

    def say(text: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {HOST}: {text}", file=sys.stderr, flush=True)

    return WorkerGroup(terms, say, start).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
