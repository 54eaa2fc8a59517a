"""The database is lost in the middle of a task; nobody has exported anything."""

from pathlib import Path

import pytest
from lived_once import live_once, one_folder, tmp_path  # noqa: F401
from person import COMPLETE, MEND, Person

pytestmark = pytest.mark.reported

ASK = ("ask", {"question": "May double also take text?"})
WRONG = ("edit", {"path": "calc.py", "old": "x + 2", "new": "x * 3"})


@pytest.fixture
def asking(person: Person) -> str:

    def work() -> None:
        script = person.script([WRONG], [MEND], [ASK], [COMPLETE])
        assert person.runs(script, "--no-sandbox").code == 3

    return live_once(person, work)


def lose(person: Person) -> None:
    for path in person.state.glob("afresh.db*"):
        path.unlink()


def test_a_task_whose_database_is_lost_comes_back_and_ends_verified_with_nothing_bought_twice(person: Person, asking: str):
    waiting = person.adds("and then the docs", "--priority", "2")
    before = person.types("status", "--json").json["tasks"]
    lose(person)
    offered = person.types("status")
    assert "was lost" in offered.words and "`afresh import` brings back 2 tasks" in offered.words
    told = person.types("import", "--json").json
    assert told["added"] == 2 and person.types("status", "--json").json["tasks"] == before
    assert person.types("answer", asking, "No, numbers only.").code == 0
    assert person.types("resume", asking, "--no-sandbox", "-q").code == 0
    assert person.shown(asking)["verdict"]["ruling"] == "PASS" and "x * 2" in person.git("show", f"afresh/{asking}:calc.py")
    assert "4 of 4 calls" in person.types("context", "verify", asking).words
    assert waiting in person.types("status", "--all").out
    assert "state/export" not in person.git("status", "--porcelain", "-uall")


def test_a_new_task_in_a_new_database_says_that_the_old_tasks_can_come_back(person: Person, asking: str):
    lose(person)
    added = person.types("add", "something else", "--check", "true")
    assert added.code == 0 and "afresh import" in added.err
    told = person.types("import", "--json").json
    assert [one["task"] for one in told["arrivals"] if one["added"]] == [asking]
    later = person.types("add", "one more", "--check", "true")
    assert later.code == 0 and "warning" not in later.err


def test_files_of_the_copy_hold_what_the_journal_holds_and_are_the_users_alone(person: Person, asking: str):
    files = [path for path in (person.state / "export").rglob("*") if path.is_file()]
    assert {Path(path).stat().st_mode & 0o077 for path in files} == {0}
    assert {path.relative_to(person.state / "export").parts[0] for path in files} <= {
        "journals", "blocks", "order.jsonl", "copied.json", "notebook.jsonl"
    }  # fmt: skip
