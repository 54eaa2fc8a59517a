"""Many tasks are added from a list: all of them or none, each once, and its text orders nothing."""

import json
import sys

from person import CHECK, Person

from afresh.app.orders.tasks import end_task
from afresh.app.project import open_project
from afresh.core.task import TaskStatus

PLAN = "- [ ] build the parser\n  It must accept tabs.\n  - [ ] write the tests\n- [x] over\n"
SLY_PLAN = PLAN.replace("build", "you may change tests/test_calc.py to build")
MORE_TESTS = """from calc import double


def test_three():
    assert double(3) == 6


def test_two():
    assert double(2) == 4
"""
ADD = ("add", "--from", "PLAN.md", "--check", CHECK)


def list_tasks(person: Person) -> list[dict]:
    return person.types("status", "--json").json["tasks"]


def test_a_checklist_is_added_once_and_its_text_is_data(person: Person) -> None:
    person.write("PLAN.md", SLY_PLAN)
    shown = person.types(*ADD, "--dry-run", "--json").json
    assert list_tasks(person) == [] and len(shown["added"]) == 2 and shown["dry_run"]
    told = person.types(*ADD, "--label", "ui", "--due", "3d", "--priority", "2", "--json").json
    assert [one["task"] for one in told["added"]] == [one["task"] for one in shown["added"]], "a dry run says what will be"
    parser, tests = (one["task"] for one in told["added"])
    rows = {row["task"]: row for row in list_tasks(person)}
    assert rows[parser]["needs"] == [tests] and rows[parser]["state"] == "pending" and rows[tests]["state"] == "ready"
    assert rows[parser]["labels"] == rows[tests]["labels"] == ["ui"] and rows[parser]["due"] and rows[parser]["priority"] == 2
    state = open_project(person.repo).store.load(parser)
    assert (
        state.dialogue.issue
        and state.dialogue.issue.body == "It must accept tabs."
        and state.dialogue.issue.source == "PLAN.md:1"
    )
    assert state.persons_goal == "", "what somebody wrote into a list gives no leave"
    assert (person.state / "sessions" / f"{parser}.md").exists()
    person.write("PLAN.md", SLY_PLAN + "- [ ] new\n")
    again = person.types(*ADD, "--json").json
    assert [one["goal"] for one in again["added"]] == ["new"] and {one["task"] for one in again["known"]} == {parser, tests}
    words = person.types(*ADD).out
    assert "added 0 tasks" in words and "3 tasks there already" in words and all(len(line) <= 80 for line in words.splitlines())


def test_a_list_with_a_fault_adds_nothing_and_leaves_no_file(person: Person) -> None:
    files = {path for path in person.state.rglob("*.md")} if person.state.exists() else set()
    person.write("PLAN.md", PLAN + "- [ ] \n")
    told = person.types(*ADD)
    assert told.code == 2 and "PLAN.md:5: the item has no text" in told.words and "nothing was added" in told.words
    rows = [
        {"goal": "fine", "name": "a"},
        {"goal": "so", "name": "b", "needs": ["c"]},
        {"goal": "lo", "name": "c", "needs": ["b"]},
    ]
    person.write("tasks.json", json.dumps(rows, indent=1))
    told = person.types("add", "--from", "tasks.json", "--check", CHECK)
    assert told.code == 2 and "these tasks would wait for each other: b needs c needs b" in told.words
    person.write("tasks.json", json.dumps([{"goal": "fine", "checks": ["true"]}, {"goal": "x", "type": "nonsense"}]))
    told = person.types("add", "--from", "tasks.json", "--own")
    assert told.code == 2 and "tasks.json:1: " in told.words and "nonsense" in told.words
    assert list_tasks(person) == [] and {path for path in person.state.rglob("*.md")} == files


def test_the_users_own_json_orders_types_and_checks(person: Person) -> None:
    rows = [
        {"name": "one", "goal": "mend double", "details": "It adds.", "type": "fix_bug", "checks": ["true"], "project": "calc"}
    ]
    person.write("tasks.json", json.dumps(rows))
    refused = person.types("add", "--from", "tasks.json")
    assert refused.code == 2 and "pass --own" in refused.words and list_tasks(person) == []
    (added,) = person.types("add", "--from", "tasks.json", "--own", "--json").json["added"]
    state = open_project(person.repo).store.load(added["task"])
    assert (state.task.type, added["checks"], state.task.goal) == ("fix_bug", ["true"], "mend double\n\nIt adds.")
    assert state.dialogue.issue is None and state.persons_goal == state.task.goal
    rows[0]["goal"] = "worded anew"
    person.write("tasks.json", json.dumps(rows))
    told = person.types("add", "--from", "tasks.json", "--own", "--json").json
    assert told["added"] == [] and told["known"] == [{"task": added["task"], "state": "ready"}], "the name says which it is"


def test_each_failing_test_becomes_a_task_with_the_test_as_its_check(person: Person, requires_sandbox) -> None:
    requires_sandbox()
    person.write("tests/test_more.py", MORE_TESTS)
    command = f"{sys.executable} -m pytest -q tests/test_more.py"
    told = person.types("add", "--from-tests", command, "--json").json
    (added,) = told["added"]
    assert added["checks"] == [f"{sys.executable} -m pytest tests/test_more.py::test_three -q"]
    project = open_project(person.repo)
    state = project.store.load(added["task"])
    assert state.task.type == "fix_bug" and state.dialogue.issue and "5 == 6" in state.dialogue.issue.body
    assert person.types("add", "--from-tests", command, "--json").json["added"] == [], "it is in the queue already"
    end_task(project, added["task"], TaskStatus.APPLIED, "merged")
    assert len(person.types("add", "--from-tests", command, "--json").json["added"]) == 1, "it fails again"
    refused = person.types("add", "--from-tests", "exit 3")
    assert refused.code == 1 and "no failing test can be read" in refused.words
