"""How many tasks run at once on one machine: `afresh work --workers 64` against a slow model on the loopback.

Run: python bench/pool.py [--tasks 64] [--calls 8] [--seconds 10] [--at-once 32] [--write]. The model serves so many calls
at a time, each in so many seconds: its own limit is their quotient. Each task edits a file of its own, reads, and is verified
by a test in the sandbox. A second run has four tasks, a third a spending limit that is reached half-way.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from threading import Event, Lock, Semaphore, Thread
from typing import Any

from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import Project, open_project
from afresh.core.action import Action
from afresh.core.event import TaskClaimed
from afresh.core.ledger import SpendingFilter
from afresh.core.reply import Reply
from afresh.core.usage import Usage
from publish import write_results
from support.model_server import ModelServer, ReceivedRequest
from support.provider_faults import ServerAnswer
from support.wire_formats import ScriptedTurn

SPEC = "slow"
PRICE = "input = 1.0\noutput = 2.0\n"
TEST = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(1 + 1, 2)\n"
LOOK_SECONDS = 2.0
KILOBYTE = 1_024


class SlowServer(ModelServer):
    """Plays the same replies for each task, in so many seconds, so many at a time."""

    def __init__(self, calls: int, seconds: float, at_once: int) -> None:
        super().__init__(())
        self.calls, self.seconds = calls, seconds
        self.begun, self.times, self._slots, self._counting = Counter[str](), list[float](), Semaphore(at_once), Lock()

    def _played(self, received: ReceivedRequest) -> ServerAnswer:
        text = json.dumps(received.body)
        (task,) = set(re.findall(r"add the file (n\d+)\.txt", text))
        with self._counting:
            self.begun[task] += 1
            number = self.begun[task]
        with self._slots:
            time.sleep(self.seconds)
            with self._counting:
                self.times.append(time.monotonic())
        return ServerAnswer(ScriptedTurn(Reply("", self._choose_actions(task, number), Usage(len(text) // 4, 40))))

    def _choose_actions(self, task: str, number: int) -> tuple[Action, ...]:
        if number == 1:
            return (Action("edit", {"path": f"{task}.txt", "old": "", "new": "made\n"}),)
        if number < self.calls:
            return (Action("read", {"path": f"part{number % 8}.py"}),)
        return (Action("complete", {"summary": f"Add {task}.txt\n\nIt was missing."}),)


def make_project(folder: Path, address: str) -> Project:
    variables = {"XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config")}
    os.environ |= {**variables, "GIT_CONFIG_GLOBAL": os.devnull}
    config, root = folder / "config/afresh/config.toml", folder / "repo"
    config.parent.mkdir(parents=True)
    model = f'[models.{SPEC}]\nprovider = "vllm"\nmodel = "slow"\nbase_url = "{address}"\n[prices."vllm:slow"]\n{PRICE}'
    config.write_text(f"[limits]\nday = 1000.0\nmonth = 1000.0\n{model}")
    root.mkdir()
    for number in range(8):
        lines = [f"def function_{number}_{line}(value):\n    return value + {line}\n\n" for line in range(40)]
        (root / f"part{number}.py").write_text("\n".join(lines))
    (root / "test_sample.py").write_text(TEST)
    for arguments in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "first")):
        subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@b", *arguments], cwd=root, check=True)
    return open_project(root)


def add_tasks(project: Project, count: int) -> list[str]:
    check = f"{sys.executable} -m unittest -v"
    return [
        add_task(project, TaskOrder(f"add the file n{number}.txt", checks=(check,), model=SPEC)).task.id
        for number in range(count)
    ]


class MemoryWatch(Thread):
    """Looks at the pool and its processes while they run. Keeps the look at the most tasks, and of these the largest."""

    def __init__(self, project: Project, pool: int) -> None:
        super().__init__(daemon=True)
        self.project, self.pool, self.over = project, pool, Event()
        self.tasks, self.unique, self.share, self.processes, self.base = 0, 0, 0, 0, 0

    def run(self) -> None:
        while not self.over.wait(LOOK_SECONDS):
            self._look()

    def _look(self) -> None:
        """`unique`: pages of the pool and of each process that no other has. Tasks in one process share its pages."""
        tasks = sum(bool(ticket.owner) for ticket in self.project.queue.tickets())
        children = Path(f"/proc/{self.pool}/task/{self.pool}/children").read_text().split()
        base = read_memory(self.pool)
        seen = [memory for child in children if (memory := read_memory(int(child)))]
        unique, share = (sum(one[name] for one in (base, *seen) if one) for name in ("unique", "share"))
        if base and (tasks, unique) > (self.tasks, self.unique):
            self.tasks, self.unique, self.share, self.processes, self.base = tasks, unique, share, len(seen), base["resident"]


def read_memory(process: int) -> dict[str, int]:
    """Return kilobytes: `unique` are pages of this process alone, `share` counts each shared page by its share."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return {}
    found = {name: int(value.split()[0]) for name, value in (line.split(":") for line in lines)}
    return {"unique": found["Private_Clean"] + found["Private_Dirty"], "share": found["Pss"], "resident": found["Rss"]}


def run_pool(project: Project, workers: int) -> tuple[int, str, float, MemoryWatch]:
    began = time.monotonic()
    command = [sys.executable, "-m", "afresh.cli.main", "work", "--workers", str(workers), "--until-empty"]
    pool = subprocess.Popen(command, cwd=project.paths.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    watch = MemoryWatch(project, pool.pid)
    watch.start()
    said, _ = pool.communicate()
    watch.over.set()
    watch.join()
    return pool.returncode, said, time.monotonic() - began, watch


def measure_pool(options: argparse.Namespace) -> dict[str, Any]:
    with (
        tempfile.TemporaryDirectory() as made,
        SlowServer(options.calls, options.seconds, options.at_once) as server,
    ):
        project = make_project(Path(made), server.openai_url)
        tasks = add_tasks(project, options.tasks)
        used = os.times()
        code, said, seconds, watch = run_pool(project, options.tasks)
        spent = os.times()
        assert code == 0, [line for line in said.splitlines() if "no more tasks" in line] or said[-4_000:]
        facts = check_run(project, tasks, server)
    limit, calls = options.at_once / options.seconds, options.tasks * options.calls
    reached = calls / (max(server.times) - min(server.times) + options.seconds)
    return {
        **vars(options), **facts, "seconds_in_all": seconds, "model_limit_calls_per_second": limit, "calls_per_second": reached,
        "share_of_limit": reached / limit, "share_of_limit_with_start_and_end": calls / seconds / limit,
        "cpu_seconds_per_task": (spent.children_user + spent.children_system - used.children_user - used.children_system)
        / options.tasks,
        "tasks_at_once": watch.tasks, "processes": watch.processes, "unique_mb_per_task": watch.unique / watch.tasks / KILOBYTE,
        "all_mb": watch.share / KILOBYTE, "pool_mb": watch.base / KILOBYTE, "load": os.getloadavg()[0],
    }  # fmt: skip


def check_run(project: Project, tasks: list[str], server: SlowServer) -> Mapping[str, Any]:
    """Raise if a task was lost or ran twice, a call was made twice, or a ceiling was passed."""
    project.storage.close()
    states = [project.store.load(task) for task in tasks]
    claims = [sum(isinstance(one.event, TaskClaimed) for one in project.store.journal(task)) for task in tasks]
    assert [state.status.value for state in states] == ["done"] * len(tasks), Counter(state.status.value for state in states)
    assert set(claims) == {1} and set(server.begun.values()) == {server.calls} and len(server.begun) == len(tasks)
    booked = project.ledger.calls(SpendingFilter())
    assert len(booked) == len(tasks) * server.calls
    sizes = [call.payment.usage.tokens if call.payment else 0 for call in booked]
    assert all(size <= call.booking.call.ceiling for size, call in zip(sizes, booked, strict=True))
    return {"done": len(tasks), "claims": sum(claims), "paid_calls": len(booked), "largest_call_tokens": max(sizes)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tasks", type=int, default=64)
    parser.add_argument("--calls", type=int, default=8, help="of each task")
    parser.add_argument("--seconds", type=float, default=10.0, help="that the model takes for a call")
    parser.add_argument("--at-once", type=int, default=32, help="calls that the model serves at a time")
    parser.add_argument("--write", action="store_true", help="write pool.json")
    options = parser.parse_args()
    writes = vars(options).pop("write")
    found = {"run": measure_pool(options)}
    print(json.dumps(found, indent=1))
    if writes:
        write_results("pool", found)


if __name__ == "__main__":
    main()
