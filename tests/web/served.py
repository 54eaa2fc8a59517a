"""A dashboard that listens in this process, and a client that is no browser."""

import http.client
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from afresh.app.project import Project, open_project
from afresh.web.server import Dashboard, DashboardServer, open_socket


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    text: str


@dataclass
class Served:
    """A dashboard on a port, and a client that is no browser: it sends what it is told to."""

    dashboard: Dashboard
    port: int
    project: Project
    tasks: dict[str, str]
    cookie: str = ""
    csrf: str = ""
    base: str = field(init=False)

    def __post_init__(self) -> None:
        self.base = f"http://127.0.0.1:{self.port}"

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        given = {"cookie": self.cookie, **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.putrequest(method, path, skip_host="host" in given, skip_accept_encoding=True)
        for name, value in given.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("content-length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        told = Answer(
            answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode("utf-8", "replace")
        )
        connection.close()
        return told

    def get(self, path: str, **headers: str) -> Answer:
        return self.send("GET", path, **headers)

    def post(self, path: str, form: dict[str, str], **headers: str) -> Answer:
        given = {"origin": self.base, "content_type": "application/x-www-form-urlencoded", **headers}
        return self.send("POST", path, urlencode({"csrf": self.csrf, **form}).encode(), **given)

    def sign_in(self) -> None:
        answer = self.get(f"/?token={self.dashboard.sessions.token}")
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        session = self.dashboard.sessions.find_session(self.cookie.partition("=")[2])
        assert session
        self.csrf = session.csrf


@contextmanager
def serve(repo: Path, tasks: dict[str, str], read_only: bool = False, others: Sequence[Path] = ()) -> Iterator[Served]:
    projects, listening = [open_project(path) for path in (repo, *others)], open_socket(0)
    port = listening.getsockname()[1]
    dashboard = Dashboard(projects, port, read_only)
    server = DashboardServer(dashboard)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        served = Served(dashboard, port, projects[0], tasks)
        served.sign_in()
        yield served
    finally:
        server.handle_exit(0, None)
        thread.join(600)
        listening.close()
        for project in projects:
            project.storage.close()
        assert not thread.is_alive(), "the server stops when it is told to"
