"""After a failed or discarded task there is always a way on: again, without it, or not at all."""

import pytest
from person import COMPLETE, MEND, Person

from afresh.app.orders.tasks import end_task
from afresh.app.project import open_project
from afresh.core.task import TaskStatus


@pytest.fixture(autouse=True)
def confined(requires_sandbox) -> None:
    requires_sandbox()


def fail(person: Person, task: str) -> None:
    project = open_project(person.repo)
    end_task(project, task, TaskStatus.FAILED, "it reported done 3 times and was refused each time")
    project.storage.close()


def test_a_task_that_gave_up_goes_on_where_it_was_when_retried(person: Person) -> None:
    claims = [[COMPLETE]] * 3
    told = person.runs(person.script(*claims, [MEND], [COMPLETE]))
    task = person.shown()["task"]["id"]
    assert told.code == 1 and person.shown()["status"] == "failed" and f"afresh resume {task[-8:]}" in told.words
    again = person.types("resume", "--hint", "multiply instead", "--json")
    assert again.code == 0 and again.json["task"] == task, "the same task, with its journal"
    assert person.shown()["status"] == "done" and person.shown()["calls"] == 5
    assert "multiply instead" in person.types("show", "--decisions", task).words


def test_a_task_whose_own_model_has_no_key_is_passed_over(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    stuck = person.adds("with a model of its own", "--model", "anthropic:claude-opus-5", "--priority", "9")
    fine = person.adds("double is wrong", "--model", person.script([MEND], [COMPLETE]))
    told = person.types("work")
    assert told.code == 4 and "ANTHROPIC_API_KEY is not set" in told.err and person.shown(fine)["status"] == "done"
    assert person.shown(stuck)["status"] == "ready" and "1 pending" in person.types("status").words


@pytest.mark.journey
def test_those_that_wait_for_a_failed_task_are_told_three_ways_on(person: Person) -> None:
    script = person.script([MEND], [COMPLETE])
    first = person.adds("first", "--model", script)
    second = person.adds("second", "--model", script, "--after", first)
    fail(person, first)
    told = person.types("resume", second)
    assert told.code == 3 and f"{first} (failed)" in told.err
    assert all(f"afresh {way}" in told.err for way in (f"resume {first}", f"edit {second} --not-after all", f"discard {second}"))
    assert "no tasks ready" in person.types("work").out
    for command in ("status", "status --all", f"show {second}"):
        words = " ".join(person.types(*command.split()).words.split())
        assert f"blocked by {first} (failed)" in words and f"afresh resume {first[-8:]}" in words, command
    rows = {row["task"]: row for row in person.types("status", "--json").json["tasks"]}
    assert rows[second]["blocked_by"] == [first] and rows[second]["next"] == f"afresh resume {first[-8:]}"
    skipped = person.types("edit", second, "--not-after", "all")
    assert skipped.code == 0 and "waits for no other task" in skipped.out
    assert person.types("work", "--json").json[0]["task"] == second
    person.types("doctor", "--rebuild")
    assert [row["needs"] for row in person.types("status", "--json").json["tasks"]] == [[], []]


@pytest.mark.journey
def test_a_discarded_task_is_ordered_anew_and_others_wait_for_the_new_one(person: Person) -> None:
    first = person.adds("mend double", "--model", person.script([MEND], [COMPLETE]))
    second = person.adds("second", "--after", first)
    assert person.types("discard", first, "--why", "no longer wanted").code == 0
    assert "no longer wanted" in person.types("show", first).words
    told = person.types("release", first, "--json")
    new = told.json["task"]
    assert told.code == 0 and new != first and person.shown(first)["status"] == "discarded"
    rows = {row["task"]: row for row in person.types("status", "--json").json["tasks"]}
    assert rows[second]["needs"] == [new] and rows[new]["ready"] and not rows[second]["ready"]
    assert person.types("resume", new).code == 0
    assert {row["task"]: row["ready"] for row in person.types("status", "--json").json["tasks"]}[second]
