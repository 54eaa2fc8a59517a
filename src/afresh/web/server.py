"""Joins the pages to an application and serves it on the loopback."""

import socket
from collections.abc import Callable, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from afresh.app.inspect.watch_store import StoreWatch
from afresh.app.project import Project
from afresh.app.service.patient_http import make_patient_protocol
from afresh.app.service.service import ServiceHealth
from afresh.errors import AfreshError, BadInput, NeedsPerson
from afresh.ports.patience import fail_at_once
from afresh.web.guard import HEALTH_PATH, Guard
from afresh.web.live import LiveFeed
from afresh.web.pages import audit, context, evolve, heartbeats, home, inbox, knowledge, memory, queue, replay, spend, step, task
from afresh.web.sessions import SessionKeeper
from afresh.web.visit import PageRoute, ProjectTab, Visit

LOOPBACK = "127.0.0.1"
PAGES = (home, inbox, task, step, context, queue, knowledge, memory, heartbeats, spend, audit, replay, evolve)
LAST_SECONDS = 3
"""Seconds for answers that are being sent when the server must stop."""
MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class Dashboard:
    """The application: pages of the projects that were named when it was started, and of no other."""

    def __init__(
        self, projects: Sequence[Project], port: int, read_only: bool = False, service: ServiceHealth | None = None
    ) -> None:
        self.tabs = {tab.key: tab for tab in make_tabs(projects)}
        self.read_only, self.sessions, self.service = read_only, SessionKeeper(), service
        self._watches = {tab.key: StoreWatch(tab.project.paths.root) for tab in self.tabs.values()}
        self.feed = LiveFeed(self._watches)
        self.address = f"http://{LOOPBACK}:{port}/?token={self.sessions.token}"
        static = read_static_files()

        async def send_static(request: Request) -> Response:
            found = static.get(request.path_params["name"])
            return Response(found[0], media_type=found[1]) if found else PlainTextResponse("No such file.\n", 404)

        async def send_events(request: Request) -> Response:
            key = request.path_params["project"]
            return self.feed.stream_changes(key) if key in self.tabs else PlainTextResponse("No such project.\n", 404)

        async def send_health(request: Request) -> Response:
            if service is None:
                return PlainTextResponse("No service runs here; `afresh serve` has one.\n", 404)
            well, answer = await run_in_threadpool(service.report)
            return JSONResponse(answer, 200 if well else 503)

        async def send_missing(request: Request, fault: Exception) -> Response:
            tab = next((tab for key, tab in self.tabs.items() if request.url.path.startswith(f"/p/{key}/")), self.tabs[first])
            visit = Visit(request, tab, tuple(self.tabs.values()), self.read_only, "")
            shown = {"what": f"there is no page at {request.url.path}", "safe": "", "next": "choose one from the menu"}
            return await run_in_threadpool(lambda: visit.show("error.html", 404, **shown))

        first = next(iter(self.tabs))
        routes = [
            Route("/", lambda request: RedirectResponse(f"/p/{first}/", 303)),
            Route(HEALTH_PATH, send_health),
            Route("/static/{name:path}", send_static),
            Route("/p/{project}/events", send_events),
            *(self._make_route(route) for page in PAGES for route in page.ROUTES),
        ]
        self.app = Guard(
            Starlette(routes=routes, exception_handlers={404: send_missing}, lifespan=self._live), self.sessions, port, read_only
        )

    @asynccontextmanager
    async def _live(self, app: Starlette):
        yield
        for watch in self._watches.values():
            watch.close()

    def _make_route(self, route: PageRoute) -> Route:
        async def endpoint(request: Request) -> Response:
            tab = self.tabs.get(request.path_params["project"])
            if tab is None:
                return PlainTextResponse("No such project.\n", 404)
            trouble = self.service.describe_trouble() if self.service else ""
            visit = Visit(request, tab, tuple(self.tabs.values()), self.read_only, trouble)
            return await run_in_threadpool(answer_visit, route.answer, visit)

        return Route(f"/p/{{project}}{route.path}", endpoint, methods=[route.method])


def answer_visit(answer: Callable[[Visit], Response], visit: Visit) -> Response:
    """Answer with the page, or say what is wrong in the words of the terminal."""
    try:
        with fail_at_once():
            return answer(visit)
    except NeedsPerson as fault:
        status = 409 if visit.request.method == "POST" else 404 if isinstance(fault, BadInput) else 500
        return visit.show("error.html", status, what=fault.what, safe=fault.safe, next=fault.next)
    except AfreshError as fault:
        return visit.show("error.html", 500, what=str(fault), safe="", next="load the page again")


def make_tabs(projects: Sequence[Project]) -> list[ProjectTab]:
    """Name each project by its folder; a repeated name gets a number."""
    tabs = list[ProjectTab]()
    for project in projects:
        name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in project.paths.root.name.lower())
        taken = sum(tab.key == name or tab.key.startswith(f"{name}~") for tab in tabs)
        tabs.append(ProjectTab(f"{name}~{taken + 1}" if taken else name or "project", project))
    return tabs


def read_static_files() -> dict[str, tuple[bytes, str]]:
    """Read what is served by name, so that no other file can be asked for."""
    root = Path(str(files("afresh.web").joinpath("static")))
    paths = [path for path in root.rglob("*") if path.suffix in MEDIA_TYPES]
    return {path.relative_to(root).as_posix(): (path.read_bytes(), MEDIA_TYPES[path.suffix]) for path in paths}


def open_socket(port: int, host: str = LOOPBACK) -> socket.socket:
    """Listen, by default on the loopback; port 0 takes any that is free. BadInput if the port is in use."""
    listening = socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()
    except OSError as fault:
        listening.close()
        raise BadInput(f"port {port} can't be used: {fault.strerror}", next="--port N takes another one, 0 a free one") from fault
    return listening


class DashboardServer(uvicorn.Server):
    """Ends the streams of open pages first, for the server waits until all connections are idle."""

    def __init__(self, dashboard: Dashboard) -> None:
        quiet = {"http": make_patient_protocol(), "log_config": None, "access_log": False, "server_header": False}
        super().__init__(uvicorn.Config(dashboard.app, ws="none", timeout_graceful_shutdown=LAST_SECONDS, **quiet))
        self._dashboard = dashboard

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop on Ctrl-C or SIGTERM; a second signal does not wait."""
        self._dashboard.feed.end_streams()
        self.force_exit = self.should_exit
        self.should_exit = True


def serve_dashboard(projects: Sequence[Project], port: int, read_only: bool, ready: Callable[[str], None]) -> None:
    """Serve until a signal ends it. `ready` gets the address."""
    listening = open_socket(port)
    dashboard = Dashboard(projects, listening.getsockname()[1], read_only)
    ready(dashboard.address)
    try:
        DashboardServer(dashboard).run(sockets=[listening])
    finally:
        listening.close()
        for project in projects:
            project.storage.close()
