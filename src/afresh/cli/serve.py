"""`afresh serve`: workers, schedules and the dashboard as one service."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from afresh.cli.dashboard import DEFAULT_PORT, refuse_without_packages
from afresh.cli.options import WholeNumber, model_option, open_current_project
from afresh.cli.output import wants_json

if TYPE_CHECKING:
    from afresh.app.project import Project

DEFAULT_WORKERS = 2
MAX_WORKERS = 256
SOURCE_WIDTH = 9
"""Characters of the longest source, so that lines begin below each other."""
MIN_TEXT_WIDTH = 20


@dataclass(frozen=True, slots=True)
class ServeOptions:
    workers: int
    port: int
    host: str
    read_only: bool
    schedules: bool
    model: str
    no_sandbox: bool
    auto_merge: bool

    @property
    def for_workers(self) -> tuple[str, ...]:
        """Options of `afresh work`."""
        flags = (("--no-sandbox", self.no_sandbox), ("--auto-merge", self.auto_merge))
        return (*(("--model", self.model) if self.model else ()), *(name for name, wanted in flags if wanted))

    @property
    def is_fleet(self) -> bool:
        """Whether the workers take tasks from a PostgreSQL that several machines share."""
        from afresh.fleet.stored_projects import find_fleet_address

        return bool(find_fleet_address())


@click.command("serve")
@click.option(
    "--workers",
    type=WholeNumber(1, MAX_WORKERS),
    default=DEFAULT_WORKERS,
    show_default=True,
    metavar="N",
    help="Tasks at once.",
)
@click.option(
    "--port",
    type=WholeNumber(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    metavar="N",
    help="Port of the dashboard; 0: any free one.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Where it listens; pages open at 127.0.0.1 and localhost only.",
)
@click.option("--read-only", is_flag=True, help="The dashboard shows everything and changes nothing.")
@click.option("--schedules/--no-schedules", default=True, help="Run schedules and heartbeats (default) or not.")
@click.option("--auto-merge", is_flag=True, help="Merge verified results into your branch, as `afresh work` does.")
@model_option
@click.option("--no-sandbox", is_flag=True, help="Run commands of tasks without a sandbox. Dangerous.")
def command(**options: int | str | bool) -> int:
    """Run workers, schedules and the dashboard until it is stopped.

    SIGTERM or Ctrl-C lets each worker end after its step; a second one stops at once. /health answers without a key.
    """
    refuse_without_packages()
    from afresh.app.service.service import hold_service_lock

    project, chosen = open_current_project(), ServeOptions(**options)  # pyright: ignore[reportArgumentType]
    if chosen.is_fleet:
        refuse_service_in_fleet(project, chosen)
    with hold_service_lock(project):
        return serve_project(project, chosen, make_log(wants_json()))


def refuse_service_in_fleet(project: "Project", options: ServeOptions) -> None:
    """Raise for what workers of a fleet could not do, before anything is started."""
    from afresh.errors import NotPossible

    if options.auto_merge:
        raise click.BadParameter(
            "workers of a fleet have no branch of yours; `afresh apply` merges a result", param_hint="--auto-merge"
        )
    if not project.remote:
        raise NotPossible(
            "this repository has no remote `origin`, from which workers on PostgreSQL clone it",
            next="git remote add origin ADDRESS, push, `afresh init`; or unset AFRESH_STORE to keep tasks in files",
            safe="nothing was started",
        )


def serve_project(project: "Project", options: ServeOptions, say: Callable[[str, str], None]) -> int:
    from afresh.app.service.service import ServiceHealth, keep_address, list_children
    from afresh.app.service.stop_signal import ALL_SIGNALS, handle_signals
    from afresh.app.service.supervise import SERVICE_NAME, ServiceSupervisor
    from afresh.web.server import Dashboard, open_socket
    from afresh.web.service import ServiceServer

    children = list_children(options.workers, options.for_workers, options.schedules, options.is_fleet)
    listening = open_socket(options.port, options.host)
    supervisor = ServiceSupervisor(children, project.paths.root, say)
    port = listening.getsockname()[1]
    dashboard = Dashboard([project], port, options.read_only, ServiceHealth(project, supervisor))
    server = ServiceServer(dashboard)

    def receive(*_: object) -> None:
        supervisor.request_stop()
        dashboard.feed.tell_all()

    count = "1 worker" if options.workers == 1 else f"{options.workers} workers"
    say(SERVICE_NAME, f"serving {project.paths.root} with {count}; health at http://127.0.0.1:{port}/health")
    with handle_signals(ALL_SIGNALS, receive), keep_address(project, dashboard.address) as file:
        where = dashboard.address if sys.stdout.isatty() else f"its address is in {file}"
        say(SERVICE_NAME, f"dashboard: {where}")
        if sys.stdout.isatty():
            say(SERVICE_NAME, 'add tasks in another terminal: afresh add "GOAL"; Ctrl-C stops after the step of each worker')
        running = supervisor.run(server.end)
        try:
            server.run(sockets=[listening])
        finally:
            supervisor.request_stop()
            running.join()
            listening.close()
            project.storage.close()
    say(SERVICE_NAME, "stopped" + (f"; {supervisor.killed} processes had to be killed" if supervisor.killed else ""))
    return 1 if supervisor.killed else 0


def make_log(as_json: bool) -> Callable[[str, str], None]:
    """One line an event, whole, with nothing in it that a terminal obeys; on a terminal it is wrapped."""
    from shutil import get_terminal_size

    from afresh.core.text import escape_hidden

    def say(source: str, text: str) -> None:
        shown = escape_hidden(" ".join(text.split()))
        width = get_terminal_size().columns if sys.stdout.isatty() else 0
        line = format_json_line(source, shown) if as_json else format_log_line(source, shown, width)
        print(f"{line}\n", end="", flush=True)  # in one write: several threads say something

    return say


def format_json_line(source: str, text: str) -> str:
    at = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    from afresh.core.text import to_visible_json

    return to_visible_json({"at": at, "source": source, "text": text})


def format_log_line(source: str, text: str, width: int = 0) -> str:
    """With the date for a log; on a terminal of this width with the time, and wrapped below the text."""
    head = f"{time.strftime('%H:%M:%S' if width else '%Y-%m-%d %H:%M:%S')} {source:<{SOURCE_WIDTH}} "
    if not width:
        return head + text
    from textwrap import wrap

    room = max(width - len(head), MIN_TEXT_WIDTH)
    rows = wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    return head + f"\n{' ' * len(head)}".join(rows)
