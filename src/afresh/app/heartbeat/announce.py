"""Announces what a heartbeat found, or a report: in a file, by the user's own command, to the user's addresses, or as a task."""

import json
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass

from afresh.app.heartbeat.heartbeat_call import list_difference
from afresh.app.heartbeat.notify_user import notify_user
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import Project
from afresh.app.spending.period_report import report_period, write_period_report
from afresh.core.heartbeat import HeartbeatItem, ItemCheck
from afresh.core.task import Issue, IssueAttached
from afresh.core.truncate import to_one_line
from afresh.errors import AfreshError
from afresh.views.file_io import make_folder, refuse_symlinks
from afresh.views.period_report import summarise_report

ANNOUNCEMENTS_FILE_NAME = "announcements.md"
WEBHOOK_SECONDS = 10.0
MAX_TEXT_CHARACTERS = 700
MAX_BODY_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class Announcer:
    """Announces by all means that the user has chosen. A means that fails is told and stops no other."""

    project: Project
    tell: Callable[[str], None]
    notify: str = ""
    """The user's command, or `desktop`."""
    add_tasks: bool = False

    def announce(self, item: HeartbeatItem, check: ItemCheck) -> None:
        self.announce_text(to_one_line(f"{check.text}: {check.announcement}", MAX_TEXT_CHARACTERS))
        if self.add_tasks:
            self._try("the queue", lambda: self.tell(f"added task {add_task_about(self.project, item, check)}"))

    def announce_text(self, text: str) -> None:
        self.tell(text)
        self._try("the file", lambda: write_announcement(self.project, text))
        notify_user(self.notify or self.project.settings.hooks.notify, text)
        for address in self.project.settings.heartbeat.webhooks:
            self._try(address, lambda address=address: post_announcement(address, text))

    def announce_report(self) -> None:
        """The report of the whole week is written to a file, and its line announced."""
        report = report_period(self.project, whole_week=True)
        self._try("a file", lambda: self.tell(f"wrote {write_period_report(self.project, report)}"))
        self.announce_text(to_one_line(summarise_report(report), MAX_TEXT_CHARACTERS))

    def _try(self, where: str, send: Callable[[], None]) -> None:
        try:
            send()
        except (AfreshError, OSError, ValueError) as fault:
            self.tell(f"could not be announced in {where}: {to_one_line(str(fault), 200)}")


def write_announcement(project: Project, text: str) -> None:
    path = project.paths.make_state() / ANNOUNCEMENTS_FILE_NAME
    refuse_symlinks(path.parent, path)
    make_folder(path.parent)
    at = time.strftime("%Y-%m-%d %H:%M", time.localtime(project.clock.now()))
    with path.open("a", encoding="utf-8") as file:
        file.write(f"- {at} {text}\n")


def post_announcement(address: str, text: str) -> None:
    """Send it to an address of the user's settings; a repository can name none. Redirects are not followed."""
    if not address.startswith(("http://", "https://")):
        raise ValueError("an address begins with http:// or https://")
    body = json.dumps({"text": text}, ensure_ascii=False).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"}, method="POST")
    opener = urllib.request.build_opener(_NoRedirects)
    with opener.open(request, timeout=WEBHOOK_SECONDS):
        pass


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Follow none."""


def add_task_about(project: Project, item: HeartbeatItem, check: ItemCheck) -> str:
    """Add a task and return its id. Its goal is the item; what the model and the command said is attached as data, as an issue
    is, and allows nothing."""
    goal = f"Look into this item of the checklist and put right what is wrong: {item.text}"
    lines = list_difference("", check.output or "")
    body = "\n".join(["The output now:", *(line.removeprefix("+") for line in lines)])[:MAX_BODY_CHARACTERS]
    issue = Issue(check.announcement, body)
    return add_task(project, TaskOrder(goal), None, [IssueAttached(issue)]).task.id
