"""Somebody goes on where afresh stopped, with the repository, git and continuity.json, and without afresh."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from person import COMPLETE, MEND, Person, read_last_checkpoint

from afresh.core.event import TAG_BY_EVENT_CLASS, CheckpointWritten

pytestmark = [pytest.mark.usefixtures("confined"), pytest.mark.reported]

HALF = ("edit", {"path": "calc.py", "old": "x + 2", "new": "2 + x if x < 4 else x"})
PLAN = ("plan", {"items": ["make it multiply", "look at negative numbers"]})


def told(person: Person) -> dict:
    return json.loads((person.state / "continuity.json").read_text())


def run(command: str, at: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(shlex.split(command), cwd=at, capture_output=True, text=True)


def find_tree(person: Person, branch: str) -> Path:
    """As a stranger does: by git's own list."""
    listed = person.git("worktree", "list", "--porcelain").split("\n\n")
    [found] = [entry for entry in listed if f"branch refs/heads/{branch}" in entry]
    return Path(found.splitlines()[0].removeprefix("worktree "))


@pytest.fixture
def stopped(person: Person) -> Person:
    """After a change that was kept and did not do; the script ends here, as a machine would."""
    ask = ("ask", {"question": "Is zero allowed?"})
    person.runs(person.script([PLAN], [HALF], [ask]))
    person.types("answer", person.shown()["task"]["id"], "Yes,\nand do not touch the tests.")
    return person


def test_a_stranger_finds_branch_changes_and_the_failing_test_and_goes_on(stopped: Person) -> None:
    first = told(stopped)["pick_up"]
    tree = find_tree(stopped, first["branch"])
    assert "git worktree list" in first["worktree"]
    assert stopped.git("rev-parse", "--verify", first["branch"]).startswith(first["base"])
    assert run("git branch --show-current", tree).stdout.strip() == first["branch"]
    assert first["changed"] == run("git diff --name-only", tree).stdout.split() == ["calc.py"]
    check = first["constraints"][0].removeprefix("finished when these exit 0: ")
    failing = run(check, tree)
    name = first["failing"][0].split(":")[0]
    assert failing.returncode and name.rpartition(".")[2] in failing.stderr and "1 failed" in first["tests"]
    assert first["goal"] == "double is wrong" and first["last instruction"] == "Yes,\nand do not touch the tests."
    assert first["pending"] == ["make it multiply", "look at negative numbers"]
    (tree / "calc.py").write_text("def double(x):\n    return x * 2\n")
    assert run(check, tree).returncode == 0
    run("git -c user.name=t -c user.email=t@t commit -qam mended", tree)
    stopped.git("merge", "-q", first["branch"])
    assert "x * 2" in (stopped.repo / "calc.py").read_text()


def test_the_places_that_it_names_are_there_and_commands_of_afresh_go_on(stopped: Person) -> None:
    found = told(stopped)
    task = found["pick_up"]["task"]
    for place in found["memory, beside this file"]:
        if not place.startswith(("checkpoints", "project_memory", "../knowledge")):
            assert (stopped.state / place.replace("<task>", task)).exists(), place
    assert found["pick_up"]["command"] == f"afresh resume {task[-8:]}"
    more = ("edit", {"path": "calc.py", "old": "2 + x if x < 4 else x", "new": "x * 2"})
    script = stopped.script([PLAN], [HALF], [PLAN], [more], [COMPLETE], name="more")
    assert stopped.types("resume", task, "--model", script).code == 0
    found = told(stopped)
    assert found["pick_up"]["command"] == f"afresh apply {task[-8:]}" and found["over, to be applied or discarded"] == [
        f"{task} (done)"
    ]
    assert "worktree" not in found["pick_up"] and stopped.git("rev-parse", found["pick_up"]["branch"]).startswith(
        found["pick_up"]["commit"]
    )
    memory = json.loads((stopped.state / "project_memory.json").read_text())
    assert memory["tasks"][0]["task"] == task and memory["checks that pass"][0]["passed"] == 2
    assert memory["decisions by persons"][0]["text"] == "Yes, and do not touch the tests."
    assert memory["files changed most"] == [{"path": "calc.py", "tasks": 1, "last": task}]


def test_a_task_of_many_steps_leaves_a_checkpoint_at_60_per_cent(person: Person) -> None:
    looks = [[("read", {"path": "calc.py"})] for _ in range(3)]
    person.runs(person.script(*looks, [MEND], [COMPLETE]), "--set", "max_steps=5", "--set", "budget=8000")
    task = person.shown()["task"]["id"]
    text = read_last_checkpoint(person, task)
    assert "Written because 3 of 5 steps are taken, 60 % of the budget" in text
    log = [json.loads(line) for line in (person.state / "decisions" / f"{task}.jsonl").read_text().splitlines()]
    assert [(line["step"], line["text"]) for line in log if line["kind"] == TAG_BY_EVENT_CLASS[CheckpointWritten].lower()] == [
        (3, "checkpoint")
    ]
    assert person.types("context", "verify", task).code == 0
    assert person.types("doctor", "--rebuild").code == 0 and read_last_checkpoint(person, task) == text
