"""The service says how it is without a key, and nothing else with it; its pages say what is wrong."""

import json
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from served import Served

from afresh.app.project import open_project
from afresh.app.service.service import ServiceHealth
from afresh.app.service.supervise import ChildPhase, ChildSpec, ChildStatus, ServiceSupervisor
from afresh.web.server import Dashboard, open_socket
from afresh.web.service import ServiceServer

WELL = ChildStatus("workers", ChildPhase.RUNNING)
ILL = replace(WELL, phase=ChildPhase.WAITING, restarts=3, why="a limit or a question needs a person")


class Service:
    """A dashboard of a service whose processes are not started."""

    def __init__(self, repo: Path, tasks: dict[str, str]) -> None:
        self.project, self.listening = open_project(repo), open_socket(0)
        self.supervisor = ServiceSupervisor([ChildSpec("workers", ("true",))], repo, lambda source, text: None)
        port = self.listening.getsockname()[1]
        dashboard = Dashboard([self.project], port, service=ServiceHealth(self.project, self.supervisor))
        self.server = ServiceServer(dashboard)
        self.served = Served(dashboard, port, self.project, tasks)


@pytest.fixture
def service(light: tuple[Path, dict[str, str]]) -> Iterator[Service]:
    made = Service(*light)
    thread = threading.Thread(target=made.server.run, kwargs={"sockets": [made.listening]})
    thread.start()
    try:
        made.served.sign_in()
        yield made
    finally:
        made.server.end()
        thread.join(600)
        made.listening.close()
        made.project.storage.close()
        assert not thread.is_alive()


def test_health_is_answered_without_a_key_and_names_no_task(service: Service):
    service.supervisor._set(WELL)
    answer = service.served.get("/health", cookie="")
    assert answer.status == 200
    assert json.loads(answer.text) == {
        "status": "ok", "database": "ok", "workers": {"state": "running", "restarts": 0, "why": ""}
    }  # fmt: skip
    assert service.served.get("/p/repo/", cookie="").status == 401, "nothing else is"
    assert service.served.send("POST", "/health", b"", cookie="", origin=service.served.base).status == 401


def test_health_is_503_with_a_reason_while_workers_cannot_work_and_pages_say_so(service: Service):
    assert "can't work" not in service.served.get("/p/repo/").text
    service.supervisor._set(ILL)
    answer = service.served.get("/health", cookie="")
    assert answer.status == 503 and json.loads(answer.text)["workers"]["why"] == ILL.why
    page = service.served.get("/p/repo/").text
    assert "The workers of this service can&#39;t work: a limit or a question needs a person" in page


def test_health_is_not_well_when_the_database_cannot_be_read(tmp_path: Path):
    for command in (["init", "-q"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    project = open_project(tmp_path)
    supervisor = ServiceSupervisor([ChildSpec("workers", ("true",))], tmp_path, lambda source, text: None)
    supervisor._set(WELL)
    project.paths.database.parent.mkdir(parents=True, exist_ok=True)
    project.paths.database.write_bytes(b"no database" * 1_000)
    well, answer = ServiceHealth(project, supervisor).report()
    assert not well and answer["database"] == "can't be read" and answer["status"] == "failing"


def test_while_a_service_stops_its_pages_stay_and_say_so(service: Service):
    service.supervisor.request_stop()
    answer = service.served.get("/health", cookie="")
    assert answer.status == 503 and json.loads(answer.text)["status"] == "stopping"
    assert "Stopping: workers end after their step." in service.served.get("/p/repo/").text


def test_a_dashboard_without_a_service_has_no_health(plain: Served):
    assert plain.get("/health", cookie="").status == 404
