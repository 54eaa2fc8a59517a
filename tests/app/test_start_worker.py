"""A worker is stopped by its task, and no other process is; one that stopped by itself has said why."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from dashboard_store import make_repository, set_homes

from afresh.app.project import open_project
from afresh.app.start_worker import explain_worker_stop, find_worker_log, stop_worker
from afresh.errors import NotPossible
from afresh.storage.renew_lease import identify_worker

WORKER = "from afresh.storage.renew_lease import identify_worker; print(identify_worker(), flush=True); input()"


def test_only_the_worker_that_holds_the_task_on_this_machine_is_stopped(bare_machine: None, tmp_path: Path) -> None:
    with set_homes(tmp_path):
        one = make_repository(tmp_path)
        task, project = one.adds("double is wrong"), open_project(one.repo)
        with pytest.raises(NotPossible, match="no worker holds"):
            stop_worker(project, task)
        pipe = subprocess.PIPE
        worker = subprocess.Popen([sys.executable, "-c", WORKER], stdin=pipe, stdout=pipe, text=True)
        assert worker.stdout
        name = worker.stdout.readline().strip()
        elsewhere = f"elsewhere-000000:{worker.pid}:1"
        project.queue.claim(elsewhere, task)
        with pytest.raises(NotPossible, match="on elsewhere"):
            stop_worker(project, task)
        project.queue.release(elsewhere, task)
        project.queue.claim(name, task)
        stop_worker(project, task)
        assert worker.wait(60) < 0, "ended by the signal"
        with pytest.raises(NotPossible, match="no worker holds"):
            stop_worker(project, task)
        assert identify_worker() != name
        project.storage.close()


def test_a_worker_that_stopped_is_explained_until_the_task_goes_on(bare_machine: None, tmp_path: Path) -> None:
    with set_homes(tmp_path):
        one = make_repository(tmp_path)
        task, project = one.adds("double is wrong"), open_project(one.repo)
        (ticket,) = project.queue.tickets()
        assert ticket.detail and explain_worker_stop(project, ticket) is None, "nobody has started one"
        log = find_worker_log(project, task)
        log.parent.mkdir()
        log.write_text("  • double is wrong\n")
        assert explain_worker_stop(project, ticket) is None, "it has just begun"
        log.write_text("  • double is wrong\nafresh: no model\n  nothing is lost\n  set one\n")
        os.utime(log, (ticket.detail.updated + 1,) * 2)
        stop = explain_worker_stop(project, ticket)
        assert stop and (stop.what, stop.advice) == ("no model", ("nothing is lost", "set one"))
        os.utime(log, (ticket.detail.updated - 1,) * 2)
        assert explain_worker_stop(project, ticket) is None, "the task went on since"
        project.storage.close()
