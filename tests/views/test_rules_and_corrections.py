"""What persons say outside a task reaches the files that tell of the whole project, and what they want forgotten leaves them."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from view_folder import ViewFolder, files

from afresh.app.memory import edit_facts as memory
from afresh.app.settings import ProjectPaths
from afresh.core import event as happened
from afresh.core.decision import Decision
from afresh.core.fact import Fact, FactKind
from afresh.core.task import TaskStatus
from afresh.storage.sql.notebook import SqlNotebook
from afresh.storage.sqlite.database import Database
from afresh.storage.sqlite.storage import open_sqlite_facts
from afresh.views.write_files import rebuild_view_files
from support.fakes import FakeClock

SECRET = "the answer is forty-two, for ever and a day"


@pytest.fixture
def told(views: ViewFolder, tmp_path: Path) -> Iterator[Any]:
    """Enough of an open project for `afresh memory`."""
    database = Database(tmp_path / "afresh.db")
    notebook = SqlNotebook(database, FakeClock())
    facts = open_sqlite_facts(tmp_path / "memory.db", views.store, [notebook])  # pyright: ignore[reportArgumentType]
    views.writer.facts = facts
    parts = {"facts": facts, "notebook": notebook, "view_writer": views.writer, "store": views.store, "clock": FakeClock()}
    yield SimpleNamespace(paths=ProjectPaths(tmp_path), **parts)
    facts.close()
    database.close()


def finished(views: ViewFolder) -> None:
    note = Fact(FactKind.NOTE, "parser", SECRET, confidence=0.9)
    views.add("t1")
    views.commit("t1", happened.OutputDigested((note,)), happened.DecisionMade(Decision("keep the name", "ann")))
    views.commit("t1", happened.TaskEnded(TaskStatus.DONE, f"done; {SECRET}"))


def rebuilt(views: ViewFolder, told: Any) -> dict[str, bytes]:
    rebuild_view_files(views.store, views.queue, views.folder, told.facts)
    return files(views.folder)


def test_a_rule_of_the_project_stands_in_both_files_at_once(views: ViewFolder, told: Any) -> None:
    views.add("t2")
    memory.add_rule(told, "never touch tests/")
    assert views.continuity()["pick_up"]["constraints"][0] == "never touch tests/"
    assert [rule["text"] for rule in views.json("project_memory.json")["rules in force"]] == ["never touch tests/"]
    views.commit("t2", happened.StepFinished(1, "went on"))
    assert views.continuity()["pick_up"]["constraints"][0] == "never touch tests/" and not views.complaints
    before = files(views.folder)
    assert rebuilt(views, told) == before


def test_what_is_forgotten_is_gone_from_project_memory_with_all_that_repeats_it(views: ViewFolder, told: Any) -> None:
    finished(views)
    found = views.json("project_memory.json")
    assert found["known"][0]["text"] == SECRET
    memory.forget_fact(told, found["known"][0]["id"])
    assert "forty-two" not in (views.folder / "project_memory.json").read_text()
    before = files(views.folder)
    assert rebuilt(views, told) == before and not views.complaints


def test_a_correction_of_a_correction_is_what_it_says(views: ViewFolder, told: Any) -> None:
    finished(views)
    first = views.json("project_memory.json")["known"][0]["id"]
    second = memory.correct_fact(told, first, "the parser is in b.py")
    memory.correct_fact(told, second.id, "the parser is in c.py")
    found = views.json("project_memory.json")
    assert found["known"][0]["text"] == "the parser is in c.py" and found["decisions by persons"][0]["text"] == "keep the name"
    before = files(views.folder)
    assert rebuilt(views, told) == before


def test_with_the_last_rule_gone_and_no_task_finished_there_is_no_memory(views: ViewFolder, told: Any) -> None:
    views.add("t1")
    rule = memory.add_rule(told, "use tabs")
    memory.forget_fact(told, rule.id)
    assert (
        not (views.folder / "project_memory.json").exists() and "use tabs" not in (views.folder / "continuity.json").read_text()
    )
    before = files(views.folder)
    assert rebuilt(views, told) == before
