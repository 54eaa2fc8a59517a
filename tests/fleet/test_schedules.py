"""Schedules and heartbeats of a fleet: fired by the cron of real DBOS on a real PostgreSQL, once, by real workers."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from afresh.app.heartbeat.heartbeat_state import load_heartbeat_state
from afresh.app.heartbeat.schedules import add_report_schedule, add_schedule
from afresh.app.orders.tasks import TaskOrder
from afresh.app.project import Project, init_project, open_project
from afresh.cli import main
from afresh.core.heartbeat import HeartbeatBegan, ScheduleState
from afresh.core.task import TicketQuery
from afresh.fleet.executor_lock import open_connection
from afresh.fleet.workflows import SCHEDULE_WORKFLOW
from afresh.storage.choose_storage import STORE_VARIABLE, identify_project
from support.fakes import FakeClock

LONGEST = 900.0
"""Seconds: for a machine that does much else meanwhile."""
SOURCE = str(Path(main.__file__).parents[2])
WORKER = """
import json, sys
from afresh.fleet import workflows
from afresh.fleet.worker import FleetTerms, work_in_fleet

workflows.EVERY_MINUTE = "* * * * * *"
workflows.SCHEDULE_POLL_SECONDS = 0.2
exec(sys.argv[2])
sys.exit(work_in_fleet(FleetTerms(**json.loads(sys.argv[1]))))
"""
"""A worker for which each second is a minute, and which runs what else it is given."""
HOUR = 3_600.0


@dataclass
class Fleet:
    """A user's checkout with a remote, and the workers that were started."""

    folder: Path
    address: str
    workers: list["subprocess.Popen[bytes]"] = field(default_factory=list["subprocess.Popen[bytes]"])

    @property
    def checkout(self) -> Path:
        return self.folder / "project"

    def git(self, *arguments: str) -> None:
        who = ("-c", "user.name=t", "-c", "user.email=t@t")
        subprocess.run(["git", *who, *arguments], cwd=self.checkout, check=True, capture_output=True)

    def push(self, **files: str) -> None:
        for name, text in files.items():
            path = self.checkout / name.replace("__", "/").replace("DOT", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-qm", "more")
        self.git("push", "-q", "origin", "main")

    def start(self, **more: object) -> None:
        patch = str(more.pop("patch", ""))
        number = len(self.workers)
        terms = json.dumps({"address": self.address, "no_sandbox": True, **more})
        variables = {
            **os.environ,
            "PYTHONPATH": SOURCE,
            STORE_VARIABLE: self.address,
            "XDG_CACHE_HOME": str(self.folder / "cache"),
        }
        with (self.folder / f"worker{number}.log").open("wb") as log:
            command = [sys.executable, "-c", WORKER, terms, patch]
            self.workers.append(subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def read_logs(self) -> str:
        return "".join(path.read_text() for path in sorted(self.folder.glob("worker*.log")))

    def wait_for(self, come: Callable[[], object]) -> None:
        until = time.monotonic() + LONGEST
        while not come():
            assert time.monotonic() < until, self.read_logs()
            assert all(one.poll() is None for one in self.workers), self.read_logs()
            time.sleep(0.1)

    def end(self) -> None:
        for one in self.workers:
            one.terminate()
        for one in self.workers:
            one.wait(LONGEST)


@pytest.fixture
def fleet(address: str, client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    monkeypatch.setenv(STORE_VARIABLE, address)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with open_connection(address) as connection:
        connection.execute("DROP SCHEMA IF EXISTS afresh CASCADE")  # with the projects of other tests
    monkeypatch.setenv("AFRESH_PROJECT", "")
    identify_project.cache_clear()
    made = Fleet(tmp_path, address)
    made.checkout.mkdir()
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(tmp_path / "remote.git")], check=True)
    made.git("init", "-q", "-b", "main")
    made.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    made.push(README="a project\n", DOTgitignore=".afresh/state/\n")
    yield made
    made.end()
    identify_project.cache_clear()


@pytest.fixture
def project(fleet: Fleet) -> Iterator[Project]:
    opened = open_project(fleet.checkout)
    init_project(opened)
    yield opened
    opened.storage.close()


def list_fires(client):
    """What DBOS has run of what is due each minute, to the end."""
    return client.list_workflows(name=SCHEDULE_WORKFLOW, status="SUCCESS", load_input=False, load_output=False)


def find_tasks(project: Project) -> Sequence[str]:
    return [ticket.task for ticket in project.queue.tickets(TicketQuery())]


def read_schedule(project: Project, name: str) -> ScheduleState:
    return load_heartbeat_state(project).schedules[name]


def schedule_task(project: Project, ago: float = 0.0, every: str = "1h") -> str:
    """A schedule that was added so many seconds ago. Its task waits for a model that no worker has."""
    order = TaskOrder("update the pins", "fix_bug", ("true",), model="anthropic:claude-sonnet-4-5")
    return add_schedule(earlier(project, ago), order, every=every).id


def earlier(project: Project, ago: float) -> Project:
    clock = FakeClock()
    clock.move(time.time() - ago - clock.now())
    return replace(project, clock=clock)


def list_firers(client) -> set[str]:
    """The workers that have run what is due, to the end."""
    return {one.executor_id for one in list_fires(client)}


def read_claims(project: Project) -> list[str]:
    """Who has begun a heartbeat, run by run."""
    return [entry.event.worker for entry in project.notebook.entries() if isinstance(entry.event, HeartbeatBegan)]


FORGETFUL = """
from afresh.app.heartbeat import run_due, schedules
run_due.run_due_schedules = lambda project, now: [
    schedules._fire_schedule(project, one, now) for one in schedules.list_schedules(project)
]
"""
"""A broken twin: it adds the task and does not record that it did."""
RESTLESS = """
from afresh.app.heartbeat import heartbeat
find = heartbeat.find_reason_to_skip
heartbeat.find_reason_to_skip = lambda project, plan, state, due: ""
"""
"""A broken twin: it runs a heartbeat each time, also beside another one."""
WRONG_CLOCK = """
import time
real = time.time
time.time = lambda: real() + 86_400
"""
FIRES = 4


def test_what_is_due_or_was_missed_is_done_once_although_two_workers_run(fleet: Fleet, project: Project, client) -> None:
    names = [schedule_task(project, ago=hours * HOUR + 60) for hours in (1, 5)]
    add_report_schedule(earlier(project, 2 * HOUR), every="1h")
    run_two_workers(fleet, client)
    fleet.wait_for(lambda: "heartbeat: " in fleet.read_logs() and "wrote " in fleet.read_logs() and len(find_tasks(project)) > 1)
    said, tasks = fleet.read_logs(), [read_schedule(project, name).task for name in names]
    assert sorted(find_tasks(project)) == sorted(tasks) and len(set(tasks)) == 2
    assert [said.count(f"schedule {name}: added task {task}") for name, task in zip(names, tasks, strict=True)] == [1, 1]
    assert "the report of the last week is announced" in said and "wrote " in said
    assert len(read_claims(project)) == 1 and "heartbeat: 1 checked, 0 changed" in said
    assert [item.output for item in load_heartbeat_state(project).items.values()], "the next one is compared with it"


def test_the_test_sees_what_is_done_twice(fleet: Fleet, project: Project, client) -> None:
    schedule_task(project, ago=HOUR + 60)
    run_two_workers(fleet, client, FORGETFUL + RESTLESS)
    assert len(find_tasks(project)) > 1 and len(read_claims(project)) > 1


def run_two_workers(fleet: Fleet, client, patch: str = "") -> None:
    """With a checklist on the remote. What they do beside that is done in the meantime."""
    fleet.push(DOTafresh__HEARTBEATDOTmd="- release notes follow the commits\n")
    fleet.start(patch=patch)
    fleet.start(patch=patch)
    fleet.wait_for(lambda: fleet.read_logs().count("waits for tasks") == len(fleet.workers))
    known = len(list_fires(client))
    fleet.wait_for(lambda: len(list_fires(client)) >= known + FIRES)


def test_a_worker_with_a_wrong_clock_is_not_early(fleet: Fleet, project: Project, client) -> None:
    schedule_task(project)
    fleet.start(patch=WRONG_CLOCK)
    fleet.wait_for(lambda: len(list_fires(client)) >= 2)
    assert not find_tasks(project)


def test_a_worker_without_schedules_leaves_them_to_the_others(fleet: Fleet, project: Project, client) -> None:
    schedule_task(project, ago=2 * HOUR)
    fleet.start(schedules=False)
    fleet.wait_for(lambda: "waits for tasks" in fleet.read_logs())
    fleet.start()
    fleet.wait_for(lambda: len(list_fires(client)) >= FIRES)
    (firer,) = list_firers(client)
    assert f":{fleet.workers[1].pid}:" in firer and len(find_tasks(project)) == 1
