"""One request to a page: the project, what was asked for, and how to answer."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from afresh.app.project import Project, open_project
from afresh.core.task import QueueCounts, TicketQuery
from afresh.errors import AfreshError, BadInput
from afresh.ports.patience import fail_at_once
from afresh.web.render import render_template
from afresh.web.sessions import BrowserSession


@dataclass(frozen=True, slots=True)
class ProjectTab:
    """A project that the dashboard shows."""

    key: str
    """The key of the project in addresses."""
    project: Project

    @property
    def name(self) -> str:
        return self.project.paths.root.name


@dataclass(frozen=True, slots=True)
class Visit:
    request: Request
    tab: ProjectTab
    tabs: Sequence[ProjectTab]
    read_only: bool
    trouble: str = ""
    """The fault of the service that this dashboard belongs to."""

    @property
    def project(self) -> Project:
        return self.tab.project

    @property
    def session(self) -> BrowserSession:
        return self.request.scope["session"]

    @property
    def form(self) -> Mapping[str, str]:
        return self.request.scope["form"]

    @property
    def counts(self) -> QueueCounts:
        """None at all if the store can't be read: the page that says so has a menu, too."""
        try:
            with fail_at_once():
                return self.project.queue.counts()
        except AfreshError:
            return QueueCounts({})

    def get_part(self, name: str) -> str:
        """Return a part of the path."""
        return self.request.path_params[name]

    def get_query(self, name: str, default: str = "") -> str:
        return self.request.query_params.get(name, default)

    def read_number(self, name: str, default: int) -> int:
        text = self.get_query(name)
        if text and not (text.isascii() and text.isdigit() and len(text) < 10):
            raise BadInput(f"{text!r} is not a number", next="use the links of the page")
        return int(text) if text else default

    def link(self, *parts: str | int, **query: str | int) -> str:
        """Return the address of a page of this project."""
        path = "/".join(["/p", self.tab.key, *(quote(str(part), safe="") for part in parts)])
        return path + ("" if parts else "/") + (f"?{urlencode(query)}" if query else "")

    def read_goals(self, tasks: Iterable[str]) -> dict[str, str]:
        """Return the goals of these tasks; unknown tasks are left out."""
        queue = self.project.queue
        return {ticket.task: ticket.goal for task in {*tasks} if task for ticket in queue.tickets(TicketQuery(prefix=task))}

    def take_notices(self) -> Sequence[str]:
        """Return what is to be said once; a page that only renews its live regions leaves it to the next one."""
        return () if "x-live" in self.request.headers else self.session.take_notices()

    def show(self, template: str, status: int = 200, **values: Any) -> Response:
        return HTMLResponse(render_template(template, visit=self, now=self.project.clock.now(), **values), status)

    def go(self, address: str, notice: str = "") -> Response:
        """Return to a page after a change, and say what was done."""
        if notice:
            self.session.notices.append(notice)
        return RedirectResponse(address, 303)

    @contextmanager
    def open_to_change(self) -> Iterator[Project]:
        """Open the project anew: its settings may have changed since, and pages notice what another connection writes."""
        project = open_project(self.project.paths.root)
        try:
            yield project
        finally:
            project.storage.close()


@dataclass(frozen=True, slots=True)
class PageRoute:
    path: str
    """Within the project."""
    answer: Callable[[Visit], Response]
    method: str = "GET"
