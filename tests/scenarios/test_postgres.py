"""The same commands on a PostgreSQL server: a whole task, a killed one, and one that is moved there and back."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from person import COMPLETE, MEND, Person
from survived import drive, nothing_lost, same_windows
from test_kill import make, result

from afresh.app.project import open_project
from afresh.core.codec import to_canonical_json
from afresh.core.task import TaskStatus
from afresh.storage.choose_storage import identify_project

pytestmark = [pytest.mark.journey, pytest.mark.reported]

PASSWORD = b"pass-of-the-store"


@pytest.fixture
def stored(postgres_store: str) -> str:
    identify_project.cache_clear()
    return postgres_store


def find_files_with(text: bytes, *folders: Path) -> list[Path]:
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if text in path.read_bytes()]


@pytest.mark.daily
def test_a_whole_task_lives_on_the_server_and_another_clone_knows_it(
    person: Person, stored: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AFRESH_PROJECT", "calc")
    told = person.runs(person.script([MEND], [COMPLETE]), "--no-sandbox")
    assert told.code == 0, told.err
    task = person.shown()["task"]["id"]
    assert not list(person.state.glob("*.db")) or [path.name for path in person.state.glob("*.db")] == ["code.db"]
    other = Person(tmp_path / "other")
    other.folder.mkdir()
    subprocess.run(["git", "clone", "-q", str(person.repo), str(other.repo)], check=True)
    assert other.shown(task)["status"] == "done" and task in other.types("status", "--all").out
    assert other.types("spend", "--json").code == 0 and other.types("doctor", "--rebuild").code in (0, 1)
    assert (other.state / "tasks").exists(), "what can be read is made from the server"
    assert person.types("apply", task).code == 0
    assert other.shown(task)["status"] == "applied"
    assert not find_files_with(PASSWORD, person.repo, other.repo, Path(os.environ["HOME"]))


@pytest.mark.parametrize(("point", "step"), [("settle", 2), pytest.param("after:Replied", 2, marks=pytest.mark.torture)])
def test_a_run_that_is_killed_goes_on_from_the_server(point: str, step: int, tmp_path: Path, stored: str) -> None:
    repo, task = make(tmp_path)
    assert drive(repo, task, point, step) == -signal.SIGKILL
    assert nothing_lost(repo, task, f"postgres kill {point} {step}").status is not TaskStatus.DONE
    assert drive(repo, task) == 0
    ended = result(repo, task)
    assert (ended["status"], ended["step"], ended["bought"], ended["kept"], ended["reverted"]) == (TaskStatus.DONE, 4, 4, 1, 1)
    same_windows(repo, f"postgres kill {point} {step}")


def test_a_project_moves_to_the_server_and_back(person: Person, stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AFRESH_STORE")
    assert person.runs(person.script([MEND], [COMPLETE]), "--no-sandbox").code == 0
    assert person.types("memory", "add", "Amounts are whole cents").code == 0
    task, at_first = person.shown()["task"]["id"], read_everything(person)
    assert person.types("export").code == 0
    monkeypatch.setenv("AFRESH_STORE", stored)
    assert person.types("import").code == 0
    assert read_everything(person) == at_first and person.types("apply", task).code == 0
    after, known = read_everything(person), person.types("export")
    assert known.code == 0 and after != at_first
    monkeypatch.delenv("AFRESH_STORE")
    assert person.types("import").code == 0
    assert read_everything(person) == after, "what was done on the server is in the files"


def read_everything(person: Person) -> dict[str, object]:
    """All journals and the notebook, as they are written."""
    project = open_project(person.repo)
    journals = {one.task: [entry.body for entry in project.store.journal(one.task)] for one in project.queue.tickets()}
    states = {task: to_canonical_json(project.store.load(task)) for task in journals}
    notes = [entry.body for entry in project.notebook.entries()]
    project.storage.close()
    return {"journals": journals, "states": states, "notes": notes}
