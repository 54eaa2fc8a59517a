"""What persons say outside a task reaches the files that tell of the whole project, and what they want forgotten leaves them."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from writing_desk import Desk, files

from afresh.app import edit_facts as memory
from afresh.app.settings import ProjectPaths
from afresh.core import event as happened
from afresh.core.decision import Decision
from afresh.core.fact import Fact, FactKind
from afresh.core.task import TaskStatus
from afresh.storage.sqlite.database import Database
from afresh.storage.sqlite.fact_index import SqliteFactIndex
from afresh.storage.sqlite.notebook import SqliteNotebook
from afresh.testing.fakes import FakeClock
from afresh.views.write_files import rebuild_view_files

SECRET = "the answer is forty-two, for ever and a day"


@pytest.fixture
def told(desk: Desk, tmp_path: Path) -> Iterator[Any]:
    """Enough of an open project for `afresh memory`."""
    database = Database(tmp_path / "afresh.db")
    notebook = SqliteNotebook(database, FakeClock())
    lore = SqliteFactIndex(tmp_path / "memory.db", desk.store, [notebook])  # pyright: ignore[reportArgumentType]
    desk.writer.lore = lore
    parts = {"lore": lore, "notebook": notebook, "projections": desk.writer, "store": desk.store, "clock": FakeClock()}
    yield SimpleNamespace(project=ProjectPaths(tmp_path), **parts)
    lore.close()
    database.close()


def finished(desk: Desk) -> None:
    note = Fact(FactKind.NOTE, "parser", SECRET, confidence=0.9)
    desk.add("t1")
    desk.commit("t1", happened.OutputDigested((note,)), happened.DecisionMade(Decision("keep the name", "ann")))
    desk.commit("t1", happened.TaskEnded(TaskStatus.DONE, f"done; {SECRET}"))


def rebuilt(desk: Desk, told: Any) -> dict[str, bytes]:
    rebuild_view_files(desk.store, desk.queue.tickets(), desk.folder, told.lore)
    return files(desk.folder)


def test_a_rule_of_the_project_stands_in_both_files_at_once(desk: Desk, told: Any) -> None:
    desk.add("t2")
    memory.add_rule(told, "never touch tests/")
    assert desk.continuity()["pick_up"]["constraints"][0] == "never touch tests/"
    assert [rule["text"] for rule in desk.json("project_memory.json")["rules in force"]] == ["never touch tests/"]
    desk.commit("t2", happened.StepFinished(1, "went on"))
    assert desk.continuity()["pick_up"]["constraints"][0] == "never touch tests/" and not desk.complaints
    before = files(desk.folder)
    assert rebuilt(desk, told) == before


def test_what_is_forgotten_is_gone_from_project_memory_with_all_that_repeats_it(desk: Desk, told: Any) -> None:
    finished(desk)
    found = desk.json("project_memory.json")
    assert found["known"][0]["text"] == SECRET
    memory.forget_fact(told, found["known"][0]["id"])
    assert "forty-two" not in (desk.folder / "project_memory.json").read_text()
    before = files(desk.folder)
    assert rebuilt(desk, told) == before and not desk.complaints


def test_a_correction_of_a_correction_is_what_it_says(desk: Desk, told: Any) -> None:
    finished(desk)
    first = desk.json("project_memory.json")["known"][0]["id"]
    second = memory.correct_fact(told, first, "the parser is in b.py")
    memory.correct_fact(told, second.id, "the parser is in c.py")
    found = desk.json("project_memory.json")
    assert found["known"][0]["text"] == "the parser is in c.py" and found["decisions by persons"][0]["text"] == "keep the name"
    before = files(desk.folder)
    assert rebuilt(desk, told) == before


def test_with_the_last_rule_gone_and_no_task_finished_there_is_no_memory(desk: Desk, told: Any) -> None:
    desk.add("t1")
    rule = memory.add_rule(told, "use tabs")
    memory.forget_fact(told, rule.id)
    assert not (desk.folder / "project_memory.json").exists() and "use tabs" not in (desk.folder / "continuity.json").read_text()
    before = files(desk.folder)
    assert rebuilt(desk, told) == before
