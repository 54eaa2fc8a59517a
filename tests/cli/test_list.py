"""`afresh status --all`: which tasks it shows, for people and for scripts."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from afresh.cli import main
from afresh.cli import tasks as common
from afresh.cli.memory import FACT_KINDS
from afresh.cli.render.status import render_task_rows
from afresh.cli.render.widgets import draw_lines
from afresh.core.event import QuestionAsked, TaskClaimed
from afresh.core.fact import FactKind
from afresh.core.task import QueueTicket, TaskStatus, TicketDetail, UnmetNeed
from support.fakes import FakeClock, MemoryQueue, MemoryStore
from support.sample_journals import append_events, create_task, end_task

FOOTER = "Questions: afresh answer"


@pytest.fixture(autouse=True)
def queue(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store, clock = MemoryStore(), FakeClock()
    for task in ("first", "second", "third", "fourth"):
        create_task(store, task)
    create_task(store, "part", parent="second")
    append_events(store, store.load("third"), [QuestionAsked("Multiply or shift?")])
    for task, status in (("second", TaskStatus.DONE), ("third", TaskStatus.BLOCKED), ("part", TaskStatus.FAILED)):
        end_task(store, store.load(task), status)
    here = SimpleNamespace(
        queue=MemoryQueue(store, clock), export_folder=tmp_path, root=tmp_path, clock=clock, find_damage=lambda tasks: {}
    )
    monkeypatch.setattr(common, "read_current_tasks", lambda: here)


def said(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert main.run_command_line(["status", *(args if "--status" in args else ("--all", *args))]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def names(capsys: pytest.CaptureFixture[str], *statuses: str) -> list[str]:
    """What is listed, which has to be the same for people and for scripts."""
    args = [word for status in statuses for word in ("--status", status)]
    rows = [row["task"] for row in json.loads(said(capsys, *args, "--json"))["tasks"]]
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
    assert json.loads(said(capsys, "--status", "blocked", "--json"))["tasks"][0]["question"] == "Multiply or shift?"
    ready = said(capsys, "--status", "ready")
    assert "asks:" not in ready and FOOTER not in ready


def test_a_part_stands_in_only_below_the_task_that_it_belongs_to(capsys: pytest.CaptureFixture[str]):
    assert "\n  part " in said(capsys, "--status", "done", "--status", "failed")
    assert said(capsys, "--status", "failed").startswith("part ")


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_an_unknown_status_is_refused_with_those_there_are(more: tuple[str, ...], capsys: pytest.CaptureFixture[str]):
    assert main.run_command_line(["status", "--status", "finished", *more]) == 2
    out, err = capsys.readouterr()
    assert "finished" in out + err
    assert all(status.value in out + err for status in TaskStatus)


def test_a_running_task_that_no_worker_holds_is_interrupted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    store, clock = MemoryStore(), FakeClock()
    state = create_task(store, "left")
    append_events(store, state, [TaskClaimed("worker")])
    here = SimpleNamespace(
        queue=MemoryQueue(store, clock),
        export_folder=Path("nowhere"),
        root=Path("nowhere"),
        clock=clock,
        find_damage=lambda tasks: {},
    )
    monkeypatch.setattr(common, "read_current_tasks", lambda: here)
    assert said(capsys).split()[:2] == ["left", "interrupted"] and '"running"' in said(capsys, "--json")


LONG_GOAL = "Make the parser accept tabs between all the columns of a table, whatever their width may be"


def row(task: str = "make-the-parser-accept-tabs-1a2b3c4d", **more) -> QueueTicket:
    detail = TicketDetail(12, 60, updated=100.0, question="Which of the two tab widths do the old tables use, four or eight?")
    return QueueTicket(task, LONG_GOAL, "fix_bug", TaskStatus.BLOCKED, 0, ("other-1",), True, "host:1:2", detail=detail, **more)


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_a_row_fits_the_width_and_has_step_age_and_cost(width: int):
    text = draw_lines(render_task_rows([row()], {row().task: "$1.25"}, now=100.0 + 3 * 3_600, width=width), colour=False)
    first = text.splitlines()[0]
    assert max(map(len, text.splitlines())) <= max(width, len(first)) and len(first) <= max(width, 66)
    assert first.split()[:5] == [row().task, "blocked", "12/60", "3h", "$1.25"]
    assert LONG_GOAL[:20] in text and "after other-1" in text and "run by process 1 on host" in text and "asks: Which" in text


def test_commands_that_let_a_blocked_task_go_on_are_shown_whole():
    waits = QueueTicket("second-5e6f", "second", "fix_bug", TaskStatus.READY, 0, ("first-1a2b",), False)
    waits = replace(waits, unmet=(UnmetNeed("first-1a2b", TaskStatus.FAILED),))
    text = draw_lines(render_task_rows([waits], {}, 0.0, 50), colour=False)
    assert max(map(len, text.splitlines())) <= 50
    assert all(
        f"afresh {what}" in " ".join(text.split())
        for what in ("resume first-1a2b", "edit second-5e6f --not-after all", "discard second-5e6f")
    )


def test_a_column_that_is_empty_for_all_takes_no_room():
    wide = draw_lines(render_task_rows([row()], {row().task: "$1.25"}, 0.0, 120), colour=False).splitlines()[0]
    narrow = draw_lines(render_task_rows([row()], {}, 0.0, 120), colour=False).splitlines()[0]
    assert narrow.index("Make the") < wide.index("Make the")


def test_memory_lists_only_kinds_that_facts_have():
    assert set(FACT_KINDS) <= set(FactKind)
