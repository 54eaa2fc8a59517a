"""`afresh list`: which tasks it shows, for people and for scripts."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from afresh.cli import main
from afresh.cli import tasks as common
from afresh.core.event import QuestionAsked, TaskClaimed
from afresh.core.task import TaskStatus
from afresh.testing.fakes import FakeClock, MemoryQueue, MemoryStore
from afresh.testing.sample_journals import append_events, create_task, end_task

FOOTER = "afresh inbox"


@pytest.fixture(autouse=True)
def queue(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store, clock = MemoryStore(), FakeClock()
    for task in ("first", "second", "third", "fourth"):
        create_task(store, task)
    create_task(store, "part", parent="second")
    append_events(store, store.load("third"), [QuestionAsked("Multiply or shift?")])
    for task, status in (("second", TaskStatus.DONE), ("third", TaskStatus.BLOCKED), ("part", TaskStatus.FAILED)):
        end_task(store, store.load(task), status)
    here = SimpleNamespace(queue=MemoryQueue(store, clock), export_folder=tmp_path)
    monkeypatch.setattr(common, "read_current_tasks", lambda: here)


def said(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert main.run_command_line(["list", *args]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def names(capsys: pytest.CaptureFixture[str], *statuses: str) -> list[str]:
    """What is listed, which has to be the same for people and for scripts."""
    args = [word for status in statuses for word in ("--status", status)]
    rows = [row["task"] for row in json.loads(said(capsys, *args, "--json"))]
    assert [line.split()[0] for line in said(capsys, *args).splitlines() if "goal of" in line] == rows
    return rows


def test_every_task_is_listed_without_a_status(capsys: pytest.CaptureFixture[str]):
    assert names(capsys) == ["first", "second", "part", "third", "fourth"]


def test_only_tasks_in_the_status_are_listed(capsys: pytest.CaptureFixture[str]):
    assert names(capsys, "ready") == ["first", "fourth"]


def test_a_status_may_be_given_more_than_once_and_the_order_of_the_queue_stays(capsys: pytest.CaptureFixture[str]):
    assert names(capsys, "blocked", "ready", "ready") == ["first", "third", "fourth"]


def test_a_status_that_no_task_is_in_is_not_taken_for_an_empty_queue(capsys: pytest.CaptureFixture[str]):
    assert names(capsys, "applied", "discarded") == []
    assert said(capsys, "--status", "applied", "--status", "discarded") == "no applied or discarded tasks\n"


def test_questions_are_told_only_with_the_tasks_that_ask(capsys: pytest.CaptureFixture[str]):
    blocked = said(capsys, "--status", "blocked")
    assert "asks: Multiply or shift?" in blocked and FOOTER in blocked
    assert json.loads(said(capsys, "--status", "blocked", "--json"))[0]["question"] == "Multiply or shift?"
    ready = said(capsys, "--status", "ready")
    assert "asks:" not in ready and FOOTER not in ready


def test_a_part_stands_in_only_below_the_task_that_it_belongs_to(capsys: pytest.CaptureFixture[str]):
    assert "\n  part " in said(capsys, "--status", "done", "--status", "failed")
    assert said(capsys, "--status", "failed").startswith("part ")


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_an_unknown_status_is_refused_with_those_there_are(more: tuple[str, ...], capsys: pytest.CaptureFixture[str]):
    assert main.run_command_line(["list", "--status", "finished", *more]) == 2
    out, err = capsys.readouterr()
    assert "finished" in out + err
    assert all(status.value in out + err for status in TaskStatus)


def test_a_running_task_that_no_worker_holds_is_interrupted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    store, clock = MemoryStore(), FakeClock()
    state = create_task(store, "left")
    append_events(store, state, [TaskClaimed("worker")])
    here = SimpleNamespace(queue=MemoryQueue(store, clock), export_folder=Path("nowhere"))
    monkeypatch.setattr(common, "read_current_tasks", lambda: here)
    assert said(capsys).split()[:2] == ["left", "interrupted"] and '"running"' in said(capsys, "--json")
