"""A task goes on, on any machine; and with the database gone, everything comes back."""

import subprocess
from pathlib import Path

import pytest
from lived_once import live_once, one_folder, tmp_path  # noqa: F401
from person import COMPLETE, MEND, Person
from survived import FIELDS, count, differing

from afresh.app.project import open_project
from afresh.core.state import State

pytestmark = pytest.mark.reported

ASK = ("ask", {"question": "May double also take text?"})
WRONG = ("edit", {"path": "calc.py", "old": "x + 2", "new": "x * 3"})


@pytest.fixture
def asking(person: Person) -> str:
    """A task that has tried what is wrong, mended it, and asks."""

    def work() -> None:
        script = person.script([WRONG], [MEND], [ASK], [COMPLETE])
        assert person.runs(script, "--no-sandbox").code == 3

    return live_once(person, work)


def cloned(person: Person, name: str) -> Person:
    other = Person(person.folder / name)
    other.folder.mkdir()
    subprocess.run(["git", "clone", "-q", str(person.repo), str(other.repo)], check=True)
    for one in (person, other):
        one.git("config", "user.name", "t")
        one.git("config", "user.email", "t@t")
    return other


def state(person: Person, task: str) -> State:
    return open_project(person.repo).store.load(task)


def carried(person: Person, *to: Person) -> None:
    """The export goes into git, and with it to the others."""
    person.git("add", ".afresh/export")
    person.git("commit", "-qm", "Export")
    for other in to:
        other.git("pull", "-q", "--no-rebase", "--no-edit", str(person.repo), person.git("branch", "--show-current"))


def test_a_task_that_asks_on_one_machine_is_answered_and_finished_on_another(person: Person, asking: str):
    other = cloned(person, "other")
    assert person.types("export").code == 0
    carried(person, other)
    offered = other.types("status")
    assert "No tasks yet. `afresh import` brings back 1 task from" in offered.words
    told = other.types("import")
    assert told.code == 0 and "1 journal imported" in told.words
    assert "Nothing to import: everything is here already." in other.types("import").words
    assert differing(state(other, asking), state(person, asking)) == []
    count("imported on another machine", len(FIELDS))
    assert other.types("context", "verify", asking).code == 0
    assert other.types("context", "show", asking, "--step", "2").code == 0
    assert other.types("answer", asking, "No, numbers only.").code == 0
    ended = other.types("resume", asking, "--no-sandbox", "--json")
    assert ended.code == 0 and other.shown(asking)["task"]["id"] == asking
    assert "x * 2" in other.git("show", f"afresh/{asking}:calc.py")
    assert other.git("log", "-1", "--format=%P", f"afresh/{asking}") == person.git("rev-parse", "main~1"), (
        "on the base of its task"
    )
    assert "4 of 4 calls" in other.types("context", "verify", asking).words
    assert other.types("export").code == 0
    carried(other, person)
    assert "updated" in person.types("import").words
    assert person.git("rev-parse", f"afresh/{asking}") == other.git("rev-parse", f"afresh/{asking}")
    assert person.types("apply", asking).code == 0 and "x * 2" in (person.repo / "calc.py").read_text()
    assert other.types("apply", asking).code == 0


def everything(person: Person, task: str) -> dict[str, object]:
    return {
        "queue": person.types("status", "--json").json["tasks"],
        "status": person.types("status", "--json").json,
        "task": person.shown(task),
        "call": person.types("context", "show", task, "--step", "2").out,
        "verified": person.types("context", "verify", task).out,
        "files": {path.name: path.read_text() for folder in ("sessions", "decisions", "tasks") for path in files(person, folder)},
    }


def files(person: Person, folder: str) -> list[Path]:
    return sorted(path for path in (person.state / folder).rglob("*") if path.is_file())


def lose(person: Person) -> None:
    for path in person.state.glob("afresh.db*"):
        path.unlink()


@pytest.mark.journey
def test_with_the_database_deleted_an_import_brings_everything_back(person: Person, asking: str):
    first = person.adds("and then the docs", "--priority", "2")
    person.adds("and then the rest", "--after", asking)
    before, stood = everything(person, asking), state(person, asking)
    person.types("export")
    lose(person)
    for folder in ("sessions", "decisions", "tasks"):
        for path in files(person, folder):
            path.unlink()
    assert "`afresh import` brings back 3 tasks" in person.types("status", "--all").words
    assert "brings back 3 tasks" in person.types("show").words
    told = person.types("import", "--json").json
    assert told["added"] == 3 and [one["relation"] for one in told["arrivals"]] == ["new"] * 3
    assert everything(person, asking) == before and differing(state(person, asking), stood) == []
    count("imported after the database was deleted", len(FIELDS))
    assert person.types("answer", asking, "No.").code == 0
    assert person.types("resume", asking, "--no-sandbox", "-q").code == 0
    assert first in person.types("status", "--all").out


@pytest.mark.journey
def test_a_base_that_is_missing_here_is_named_and_the_task_waits_for_it(person: Person):
    other = cloned(person, "other")
    person.write("notes.txt", "a commit that the other has not\n")
    person.commit("notes")
    base = person.git("rev-parse", "HEAD")
    assert person.runs(person.script([MEND], [ASK], [COMPLETE]), "--no-sandbox").code == 3
    task = person.shown()["task"]["id"]
    elsewhere = str(person.folder / "copy")
    assert person.types("export", elsewhere).code == 0
    told = other.types("import", elsewhere)
    assert told.code == 0 and f"task {task} starts from commit {base[:12]}, which this repository does not have" in told.words
    assert other.types("show", task).code == 0
    other.types("answer", task, "No.")
    entries = len(journal(other, task))
    refused = other.types("resume", task, "--no-sandbox", "-q")
    assert refused.code == 1 and f"starts from commit {base[:12]}" in refused.words and "git fetch" in refused.words
    assert len(journal(other, task)) == entries
    other.git("fetch", "-q", str(person.repo), "main")
    assert other.types("resume", task, "--no-sandbox", "-q").code == 0
    assert other.git("log", "-1", "--format=%P", f"afresh/{task}") == base


def journal(person: Person, task: str) -> list[str]:
    return [entry.hash for entry in open_project(person.repo).store.journal(task)]


def test_tasks_that_went_apart_are_refused_with_exit_code_1_and_nothing_of_them_changes(person: Person, asking: str):
    other = cloned(person, "other")
    elsewhere = str(person.folder / "copy")
    person.types("export", elsewhere)
    other.types("import", elsewhere)
    person.types("answer", asking, "Yes.")
    other.types("answer", asking, "No.")
    person.types("export", elsewhere)
    before = journal(other, asking)
    told = other.types("import", elsewhere)
    assert told.code == 1 and f"diverged after entry {len(before) - 1}" in told.words and asking in told.words
    assert journal(other, asking) == before
    refused = other.types("export", elsewhere)
    assert refused.code == 2 and "contains entries of" in refused.words and "first, or export to another folder" in refused.words


def test_the_notebook_goes_along(person: Person, asking: str):
    from afresh.core.fact import Fact, FactKind, FactNoted

    other, elsewhere = cloned(person, "other"), str(person.folder / "copy")
    here, there = open_project(person.repo).notebook, open_project(other.repo).notebook
    here.append([FactNoted(Fact(FactKind.RULE, "tests", "never sleep in a test"), "person")])
    person.types("export", elsewhere)
    assert "(notebook)" in other.types("import", elsewhere).words
    assert "never sleep in a test" in other.types("memory", "list", "sleep").words
    assert [entry.hash for entry in there.entries()] == [entry.hash for entry in here.entries()]
