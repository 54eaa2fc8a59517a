"""How long the pages of the dashboard take, with 1,000 tasks and a task of 10,000 steps in the store.

The long task is worked on by a scripted model through the loop and the real store, in a tree that stands still; the ledger is
restored from its journal. A short one of ten steps is made in the same way. Each page is asked for over HTTP, as a browser does,
first once and then seven times: told are the first time, and the median and the maximum of the others, in milliseconds. Target:
200 ms for every page; what a page loads after it is shown is told beside it, and not judged. Then Chromium opens the long task,
and an open page shows tasks that another process adds. Target: one second each.

  .venv/bin/python bench/dashboard.py [--tasks 1000] [--steps 10000]
"""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from afresh.actions.tools.registry import TOOLS
from afresh.app.project import Project, open_project
from afresh.app.spending.spending_ledger import restore_missing_calls
from afresh.config.templates.load_template import load_template
from afresh.core.action import Action, CommandRun
from afresh.core.event import TaskCreated, TaskEnded, WorkspaceOpened
from afresh.core.project_facts import FactQuery
from afresh.core.prompt import Request
from afresh.core.reply import Reply
from afresh.core.states.progress_state import StallThresholds
from afresh.core.task import Task, TaskStatus
from afresh.core.tokens import EstimatingCounter
from afresh.loop import advance_task
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sqlite.storage import open_sqlite_journal
from afresh.testing.fakes import ComputedModel, DictFiles, EmptyInsight, FakeClock
from afresh.testing.sample_journals import append_events
from afresh.testing.states import make_runtime
from afresh.web.server import Dashboard, DashboardServer, open_socket
from ceilings import watch as ceiling_watch
from dashboard_browser import measure_in_browser

RESULTS = Path(__file__).with_name("results") / "dashboard.json"
TIMES = 7
TARGET_MS = 200
BROWSER_TARGET_MS = 1_000
STATUSES = (TaskStatus.APPLIED, TaskStatus.DISCARDED, TaskStatus.APPLIED, TaskStatus.FAILED, None)
PAGES = ("", "inbox", "queue", "context", "spend", "knowledge", "memory", "heartbeats", "audit", "replay")
TASK_PAGES = ("", "?to=9", "/steps/{step}", "/steps/5", "/decisions", "/files", "/context", "/audit")
LOADED_LATER = ("tasks/long/context/calls.json", "tasks/long/context/yield", "spend/breakdown?by=task&since=all")


class StillWorkspace:
    def open(self) -> WorkspaceOpened:
        return WorkspaceOpened("base", "branch", "still")

    def snapshot(self, whole: bool = False) -> str:
        return "still"

    def restore(self, snapshot: str, paths: Any = (), fresh: bool = False) -> None: ...

    def changes(self, before: str, after: str) -> Any:
        return ()


class PrintingSandbox:
    level = "table"

    def run(self, command: str, timeout: float, reports: bool = False) -> CommandRun:
        number = command.split()[1]
        return CommandRun(command, 0, "\n".join(f"record_{number}_{line} in pkg/module_{number}.py" for line in range(40)))


class Enough(BaseException):
    """The task has as many steps as are wanted."""


def take_steps(project: Project, store: SqlJournal, task: str, steps: int) -> None:
    append_events(store, None, [TaskCreated(Task(id=task, goal=f"See what {steps} jobs print", max_steps=steps + 10))])
    taken = 0

    def answer(request: Request) -> Reply:
        nonlocal taken
        if taken == steps:
            raise Enough
        taken += 1
        actions = (Action("run", {"command": f"job {taken}"}),)
        if taken % 10 == 0:
            actions += (Action("note", {"subject": f"job {taken % 500}", "text": f"prints record_{taken}_1"}),)
        return Reply(f"Now job {taken}, after record_{taken - 1}_3.", actions)

    made = make_runtime(
        model=ComputedModel(answer), store=store, workspace=StillWorkspace(), files=DictFiles(), sandbox=PrintingSandbox(),
        code=EmptyInsight(), tools=TOOLS, template=load_template("discovery"), clock=FakeClock(), counter=EstimatingCounter(),
        stall=StallThresholds(idle_steps=(), idle_tokens=()), facts=project.facts, watchers=(project.facts,),
    )  # fmt: skip
    project.facts.look_up(FactQuery(""))  # as a worker does in its first step: from then on it learns from every commit
    ceilings = ceiling_watch()
    with suppress(Enough):
        advance_task(task, "worker", made)
    ceilings.check()
    assert store.load(task).work.step == steps, store.load(task).work.outcome


def fill_project(folder: Path, tasks: int, steps: int) -> Project:
    repo = folder / "repo"
    repo.mkdir()
    (repo / "a.py").write_text("a = 1\n")
    for command in (("init", "-q"), ("add", "-A"), ("-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "base")):
        subprocess.run(["git", *command], cwd=repo, check=True)
    project = open_project(repo)
    store = open_sqlite_journal(project.paths.state / "afresh.db")
    for number in range(tasks):
        order = Task(id=f"t{number:04d}", goal=f"goal number {number} of many", max_steps=60)
        state, status = append_events(store, None, [TaskCreated(order)]), STATUSES[number % len(STATUSES)]
        if status:
            append_events(store, state, [TaskEnded(status, "came to rest")])
    take_steps(project, store, "short", 10)
    began = time.monotonic()
    take_steps(project, store, "long", steps)
    print(f"{steps:,} steps in {time.monotonic() - began:.0f} s", file=sys.stderr)
    store.close()
    restore_missing_calls(project)
    project.storage.close()
    return open_project(repo)  # as a dashboard does that is started now


def measure_page(port: int, cookie: str, path: str) -> dict[str, Any]:
    taken, size = list[float](), 0
    for _ in range(TIMES + 1):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        began = time.perf_counter()
        connection.request("GET", f"/p/repo/{path}", headers={"cookie": cookie})
        answer = connection.getresponse()
        size = len(answer.read())
        taken.append(1_000 * (time.perf_counter() - began))
        assert answer.status == 200, (path, answer.status)
        connection.close()
    rest = taken[1:]
    figures = {"first": taken[0], "median": statistics.median(rest), "most": max(rest)}
    return {"page": path, **{name: round(value, 1) for name, value in figures.items()}, "kb": round(size / 1024, 1)}


def measure_dashboard(project: Project, steps: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Figures of the pages, and those of the browser."""
    listening = open_socket(0)
    port = listening.getsockname()[1]
    dashboard = Dashboard([project], port)
    server = DashboardServer(dashboard)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    cookie = f"afresh-{port}={dashboard.sessions.open_session(dashboard.sessions.token)}"
    paths = [
        *PAGES,
        *(f"tasks/{task}{page.format(step=n)}" for task, n in (("short", 9), ("long", steps)) for page in TASK_PAGES),
    ]
    try:
        pages = [measure_page(port, cookie, path) for path in (*paths, *LOADED_LATER)]
        return pages, measure_in_browser(f"http://127.0.0.1:{port}", dashboard.address, project.paths.root, "long")
    finally:
        server.handle_exit(0, None)
        thread.join()
        listening.close()


def main() -> int:
    asked = argparse.ArgumentParser()
    asked.add_argument("--tasks", type=int, default=1_000)
    asked.add_argument("--steps", type=int, default=10_000)
    options = asked.parse_args()
    with TemporaryDirectory() as folder:
        os.environ.update(XDG_DATA_HOME=f"{folder}/data", XDG_CONFIG_HOME=f"{folder}/config")
        project = fill_project(Path(folder), options.tasks, options.steps)
        rows, seen = measure_dashboard(project, options.steps)
        project.storage.close()
    for row in rows:
        figures = "  ".join(f"{name} {row[name]:8.1f}" for name in ("first", "median", "most"))
        print(f"{row['page'] or '(home)':42} {figures} ms {row['kb']:7.1f} KB")
    for row in seen:
        print(f"{row['measure']:42} median {row['median']:8.1f}  most {row['most']:8.1f} ms in the browser")
    slow = [row["page"] for row in rows if row["median"] > TARGET_MS and row["page"] not in LOADED_LATER]
    slow += [row["measure"] for row in seen if row["median"] > BROWSER_TARGET_MS]
    figures = {"tasks": options.tasks, "steps": options.steps, "pages": rows, "browser": seen}
    RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    print(f"over its target: {', '.join(slow) or 'none'}")
    return bool(slow)


if __name__ == "__main__":
    sys.exit(main())
