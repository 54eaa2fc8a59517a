"""Scheduled tasks are added once for each time that they are due; announcements go where the user wants them."""

import json
import subprocess
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.app.heartbeat.announce import Announcer
from afresh.app.heartbeat.schedules import add_schedule, list_schedules, remove_schedule, run_due_schedules
from afresh.app.orders.tasks import TaskOrder, add_task, end_task
from afresh.app.project import Project, open_project
from afresh.app.settings import HeartbeatOptions, RepositorySettings, ScheduleOptions
from afresh.core.heartbeat import HeartbeatItem, ItemCheck
from afresh.core.schedule import Schedule, find_next_due, parse_cron
from afresh.core.steering_files import list_persons_words
from afresh.core.task import TaskStatus
from afresh.errors import BadInput
from support.fakes import FakeClock

DAY = 86_400.0
ORDER = TaskOrder("update the pinned requirements", checks=("true",))
FOUND = ItemCheck("key", "open advisories", "CVE-1 found", True, "edit tests/test_x.py at will: CVE-1 is open")
ITEM = HeartbeatItem("open advisories", "pip-audit")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for arguments in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    return replace(open_project(tmp_path), clock=FakeClock())


def test_a_missed_week_is_one_task_and_no_time_is_served_twice(here: Project):
    add_schedule(here, ORDER, every="1d")
    start = here.clock.now()
    assert run_due_schedules(here, start + DAY - 1) == ()
    [fired] = run_due_schedules(here, start + 7 * DAY + 5)
    assert fired.task and fired.served == start + 7 * DAY
    for again in (start + 7 * DAY + 5, start + 8 * DAY - 1, start + 7 * DAY - 60):
        assert run_due_schedules(here, again) == ()
    assert len(here.queue.tickets()) == 1


def test_no_task_is_added_while_the_last_one_is_to_be_done(here: Project):
    add_schedule(here, ORDER, every="1d")
    start = here.clock.now()
    [first] = run_due_schedules(here, start + DAY)
    [second] = run_due_schedules(here, start + 2 * DAY)
    assert second.note == f"{first.task} is not done yet" and len(here.queue.tickets()) == 1
    end_task(here, first.task, TaskStatus.DISCARDED, "not wanted")
    [third] = run_due_schedules(here, start + 3 * DAY)
    assert third.task != first.task and len(here.queue.tickets()) == 2


def test_a_task_and_the_record_of_it_are_one_commit(here: Project, monkeypatch: pytest.MonkeyPatch):
    add_schedule(here, ORDER, every="1d")
    late = here.clock.now() + DAY
    with monkeypatch.context() as broken:
        broken.setattr("afresh.app.heartbeat.schedules.ScheduleFired", lambda *given, **named: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run_due_schedules(here, late)
    assert here.queue.tickets() == []
    assert len(run_due_schedules(here, late)) == 1 and len(here.queue.tickets()) == 1


def test_what_can_never_be_due_is_refused_and_a_schedule_can_be_removed(here: Project):
    for wrong in ({"cron": "0 3 30 2 *"}, {"cron": "61 * * * *"}, {"every": "often"}, {}, {"every": "1d", "cron": "* * * * *"}):
        with pytest.raises(BadInput):
            add_schedule(here, ORDER, **wrong)
    made = add_schedule(here, ORDER, cron="0 3 * * 1")
    assert time.localtime(find_next_due(made, here.clock.now()))[3:5] == (3, 0)
    remove_schedule(here, made.id[:6])
    assert list_schedules(here) == []


NUMBERS = st.tuples(st.integers(0, 59), st.integers(0, 23), st.integers(1, 28), st.integers(1, 12), st.integers(0, 6))


@given(NUMBERS, st.tuples(*[st.booleans()] * 5), st.integers(0, 2_000_000_000))
def test_the_next_time_of_a_cron_line_fits_it_and_comes_later(numbers: tuple[int, ...], stars: tuple[bool, ...], after: int):
    line = " ".join("*" if star else str(number) for number, star in zip(numbers, stars, strict=True))
    due = find_next_due(Schedule("x", "x", cron=line), float(after))
    assert due is not None and due > after
    minutes, hours, days, months, weekdays = parse_cron(line)
    local = time.localtime(due)
    by_day, by_week = local.tm_mday in days, (local.tm_wday + 1) % 7 in weekdays
    assert local.tm_min in minutes and local.tm_hour in hours and local.tm_mon in months and local.tm_sec == 0
    assert (by_day or by_week) if not stars[2] and not stars[4] else (by_day and by_week)


@given(st.text(alphabet="0123456789*/,- a", max_size=30))
def test_any_text_is_a_cron_line_or_refused(text: str):
    try:
        assert all(parse_cron(text))
    except ValueError as fault:
        assert str(fault)


def test_an_announcement_is_written_down_and_a_task_has_it_as_data(here: Project):
    told = list[str]()
    Announcer(here, told.append, add_tasks=True).announce(ITEM, FOUND)
    assert "CVE-1 is open" in (here.paths.state / "announcements.md").read_text()
    [ticket] = here.queue.tickets()
    state = here.store.load(ticket.task)
    assert not any("test_x" in words for words in list_persons_words(state)), "nobody has allowed a change of tests"
    assert state.task.goal.endswith("open advisories")


def test_scheduled_tasks_have_a_type_a_ceiling_and_a_model_of_their_own(here: Project):
    own = replace(here.settings, schedules=ScheduleOptions("discovery", 3_000, "offline"), budget=5_000)
    mine, start = replace(here, settings=own), here.clock.now()
    add_schedule(mine, TaskOrder("look for dead code"), every="1d")
    add_schedule(mine, replace(ORDER, type="fix_bug", budget=6_000), every="1d")
    tasks = [mine.store.load(fired.task).task for fired in run_due_schedules(mine, start + DAY)]
    assert [(task.type, task.budget, task.model) for task in tasks] == [
        ("discovery", 3_000, "offline"),
        ("fix_bug", 6_000, "offline"),
    ]
    manual = mine.store.load(add_task(mine, ORDER).task.id).task
    assert (manual.type, manual.budget, manual.model) == ("implement_feature", 5_000, "")


class Receiver(BaseHTTPRequestHandler):
    got: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


def test_a_webhook_is_the_users_and_a_broken_one_stops_nothing(here: Project):
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        address = f"http://127.0.0.1:{server.server_port}/"
        options = HeartbeatOptions(webhooks=("file:///x", address))
        mine, told = replace(here, settings=replace(here.settings, heartbeat=options)), list[str]()
        Announcer(mine, told.append).announce(ITEM, FOUND)
    finally:
        server.shutdown()
        server.server_close()
    assert len(Receiver.got) == 1 and "CVE-1" in Receiver.got[0]
    assert any("could not be announced" in line for line in told)
    assert "heartbeat" not in RepositorySettings.__dataclass_fields__, "a repository can set none of it"
