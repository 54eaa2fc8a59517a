"""A worker that stopped by itself has said why."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from dashboard_store import make_repository, set_homes

from afresh.app.project import open_project
from afresh.app.service.start_worker import explain_worker_stop, find_worker_log, is_worker_starting, start_worker


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


def test_a_worker_is_starting_until_it_holds_its_task_or_has_ended(
    bare_machine: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with set_homes(tmp_path):
        one = make_repository(tmp_path)
        task, project = one.adds("double is wrong"), open_project(one.repo)
        (ticket,) = project.queue.tickets()
        assert not is_worker_starting(project, ticket), "nobody has started one"
        slow = tmp_path / "python"
        slow.write_text("#!/bin/sh\nexec sleep 600\n")
        slow.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(slow))
        process = start_worker(project, task)
        assert is_worker_starting(project, ticket)
        project.queue.claim("elsewhere-000000:1:1", task)
        (held,) = project.queue.tickets()
        assert held.owner and not is_worker_starting(project, held)
        os.kill(process, signal.SIGKILL)
        while Path(f"/proc/{process}").exists():
            time.sleep(0.01)
        assert not is_worker_starting(project, ticket), "it has ended"
        project.storage.close()
