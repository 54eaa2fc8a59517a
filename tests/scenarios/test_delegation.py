"""A task hands out parts of itself and learns of each what it must, and nothing else."""

import sys
from pathlib import Path

import pytest
from handed import (
    COMPLETE,
    DELEGATE,
    DOUBLE,
    DOUBLED,
    FIRST_DONE,
    ONE,
    PLACE,
    PLAN,
    SECOND_DONE,
    TRIPLE,
    WORSE,
    Step,
    make,
    write_script,
)  # fmt: skip
from person import Person

from afresh.app.compose import RunTerms, run_task
from afresh.app.inspect.inspect_calls import list_audits, verify_calls
from afresh.app.project import Project, open_project
from afresh.app.results.task_result import apply_task_result, list_task_changes
from afresh.core.fact import FactKind
from afresh.core.state import State
from afresh.core.subtask import SubtaskStatus, SubtaskWork
from afresh.core.task import TaskStatus

UNCONFINED = RunTerms(no_sandbox=True)
TWO = f"{sys.executable} -m unittest -v test_two"
CANARIES = {name: f"zq{name}canary" for name in ("thought", "output", "plan", "note", "decision", "search")}


def ran(repo: Path, task: str) -> tuple[Project, State]:
    project = open_project(repo)
    state = run_task(project, task, UNCONFINED)
    assert state
    return project, state


def sent(project: Project, task: str) -> list[str]:
    """The text of every call."""
    return ["\n".join(project.store.read(ref.block) for ref in audit.sections) for _, audit in list_audits(project, task)]


def test_the_parent_sees_the_strict_result_and_nothing_else_of_the_part(tmp_path: Path) -> None:
    repo, task = make(tmp_path)
    chatty: list[list[Step]] = [
        [
            ("run", {"command": f"echo {CANARIES['output']}; seq 300"}), ("plan", {"items": [CANARIES["plan"]]}),
            ("note", {"subject": "double", "text": CANARIES["note"]}), ("search", {"text": CANARIES["search"]}),
            ("note", {"subject": "how", "text": CANARIES["decision"], "why": "it is shorter"}),
        ],
        [WORSE],
        [DOUBLE, ("complete", {"summary": "Double by multiplying\n\n" + "and so on " * 80})],
    ]  # fmt: skip
    write_script(tmp_path / f"script.{PLACE}.jsonl", chatty, CANARIES["thought"])
    project, state = ran(repo, task)
    part = f"{task}-{PLACE}"
    assert state.status is TaskStatus.DONE and sorted(change.path for change in list_task_changes(project, state)) == [
        "one.py",
        "two.py",
    ]
    (told,) = state.work.subtasks
    assert (told.status, told.files, told.task) == (SubtaskStatus.DONE, ("one.py",), part)
    assert told.state == (f"{ONE}: 2 passed", "1 item of its plan open") and len(told.summary.split()) == 99
    assert (told.metrics.steps, told.metrics.calls) == (3, 3) and told.metrics.usage.input > 1_000
    assert told.metrics.work == SubtaskWork(changed=1, added=1, removed=1)
    whole, own = sent(project, task), sent(project, part)
    assert told.text in whole[2] and all(word in "\n".join(own) for word in CANARIES.values())
    assert [word for word in CANARIES.values() for window in whole if word in window] == []
    assert "This is one part of a larger task" in own[0] and state.task.goal not in own[0]
    assert "edit one.py (x + 2 → x * 3)" in whole[2], "facts are shared through the project's memory: what failed, for one"
    assert state.memory.lessons.learnt and not project.store.load(part).memory.lessons.learnt, "lessons are drawn from the whole"
    for name in (task, part):
        assert all(call.same for call in verify_calls(project, name))
        assert all(audit.tokens + audit.reserve <= audit.budget <= 8_000 for _, audit in list_audits(project, name))
    offers = ['"delegate"' in window for window in (*whole, *own)]
    assert offers == [*[True] * 4, *[False] * 3], "in every call alike, and never to a part"


@pytest.mark.journey
def test_parts_of_one_reply_go_one_after_the_other_and_a_failed_or_blocked_one_changes_nothing(tmp_path: Path) -> None:
    """The first is done, the second begins with its tree and never passes, the third asks; the parent does the rest itself."""
    claim: list[Step] = [("edit", {"path": "left.txt", "new": "x"}), ("complete", {"summary": "It is fine"})]
    fails: Step = ("delegate", {"goal": "triple(x) must be thrice x", "checks": [TWO]})
    asks: Step = ("delegate", {"goal": "name things better"})
    parent = [[PLAN], [DELEGATE, fails, asks], [fails, FIRST_DONE], [TRIPLE, SECOND_DONE], [COMPLETE]]
    question: list[Step] = [("ask", {"question": "Which things?", "options": ["all", "none"]})]
    repo, task = make(tmp_path, parent, {"2-1": [[DOUBLE, DOUBLED]], "2-2": [claim] * 3, "2-3": [question]})
    project, state = ran(repo, task)
    first, second, third = (project.store.load(f"{task}-2-{place}") for place in (1, 2, 3))
    assert [told.status for told in state.work.subtasks] == [SubtaskStatus.DONE, SubtaskStatus.FAILED, SubtaskStatus.BLOCKED]
    assert (
        second.workspace.first_snapshot
        == third.workspace.first_snapshot
        == first.workspace.snapshot
        != first.workspace.first_snapshot
    )
    assert "It asks: Which things? (all; none)" in state.work.subtasks[2].text
    assert "left.txt" in state.work.subtasks[1].text and "not taken over" in state.work.subtasks[1].text
    tried = [fact.subject for fact in state.memory.facts if fact.kind is FactKind.FAILED_APPROACH]
    assert tried[:2] == ["delegate triple(x) must be thrice x", "delegate name things better"]
    again = state.memory.recent[2].observations[0]
    assert not again.ok and "the same was handed out in step 2 and failed" in again.text
    assert state.status is TaskStatus.DONE and sorted(change.path for change in list_task_changes(project, state)) == [
        "one.py",
        "two.py",
    ]
    assert Person(tmp_path).types("answer").out.startswith("No open questions"), "what a part asks is for its parent"
    assert f"{task}-2-2" in (repo / ".afresh/state/sessions/archive" / f"{task}.md").read_text()


@pytest.mark.journey
def test_a_part_is_shown_under_its_parent_and_goes_where_its_parent_goes(tmp_path: Path) -> None:
    repo, task = make(tmp_path)
    part, person = f"{task}-{PLACE}", Person(tmp_path)
    project, _ = ran(repo, task)
    listed = [line for line in person.types("status", "--all").out.splitlines() if task in line]
    assert listed[0].startswith(task) and listed[1].startswith(f"  {part}")
    assert [row["parent"] for row in person.types("status", "--json").json["tasks"]] == ["", task]
    status = person.types("status").words
    assert f"part {PLACE} done" in status and status.endswith("1 done")
    assert "part of" in person.types("show", part).words and "Subtasks" in person.types("show").words
    assert person.types("show", task[:-2], "--json").json["task"]["id"] == task, "the beginning of its name means the whole"
    for command in (["apply"], ["discard"], ["answer"], ["resume"]):
        refused = person.types(*command, part, *(["x"] if command == ["answer"] else []))
        assert refused.code == 2 and f"is a subtask of {task}" in refused.err and "nothing was changed" in refused.err
    before = {path: path.read_bytes() for path in (repo / ".afresh/state/sessions").rglob("*.md")}
    assert person.types("doctor", "--rebuild").code == 0
    assert before == {path: path.read_bytes() for path in (repo / ".afresh/state/sessions").rglob("*.md")}
    apply_task_result(project, task)
    assert project.store.load(part).status is TaskStatus.APPLIED
    left = [path.name for path in (repo / ".afresh/state/shadow").iterdir()]
    assert left == [f"{task}.git"] and "x * 2" in (repo / "one.py").read_text()


def test_a_part_that_makes_things_worse_for_the_whole_is_undone_there(tmp_path: Path) -> None:
    """Its own checks pass, those of its parent do not: the parent's step is judged like any other."""
    bad: Step = ("delegate", {"goal": "make double shorter", "checks": ["true"], "paths": ["one.py"]})
    spoils: list[Step] = [("edit", {"path": "one.py", "old": "x + 2", "new": "x"}), ("complete", {"summary": "Shorter"})]
    repo, task = make(tmp_path, [[PLAN], [bad], [DOUBLE, FIRST_DONE, TRIPLE, SECOND_DONE], [COMPLETE]], {"2-1": [spoils]})
    project, state = ran(repo, task)
    assert state.work.subtasks[0].status is SubtaskStatus.DONE and state.workspace.reverted == 1
    assert [fact.subject for fact in state.memory.facts if fact.kind is FactKind.FAILED_APPROACH] == [
        "delegate make double shorter"
    ]
    assert state.status is TaskStatus.DONE and "x * 2" in "".join(change.patch for change in list_task_changes(project, state))


def test_a_limit_that_trips_in_a_part_stops_its_parent_which_pays_and_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    for name in ("CONFIG", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    (tmp_path / "config" / "afresh").mkdir(parents=True)
    (tmp_path / "config" / "afresh" / "config.toml").write_text("[limits]\ntask_tokens = 8200\n")
    repo, task = make(tmp_path)
    person, part = Person(tmp_path), f"{task}-{PLACE}"
    project, state = ran(repo, task)
    child = project.store.load(part)
    assert (state.status, child.status) == (TaskStatus.BLOCKED, TaskStatus.RUNNING) and 0 < child.spending.calls < 4
    assert [row["task"] for row in person.types("answer", "--json").json] == [task]
    assert person.types("answer", task, "1").code == 0
    project.storage.close()
    again, state = ran(repo, task)
    assert (state.status, state.spending.calls, again.store.load(part).spending.calls) == (TaskStatus.DONE, 4, 4)
    spent = person.types("spend", "--by", "kind", "--json")
    assert spent.code == 0 and "delegate" in spent.out
    (row,) = person.types("spend", "--by", "task", "--json").json["lines"]
    assert (row["name"], row["calls"]) == (task, 8), "what was handed out is on the parent's bill"


@pytest.mark.journey
def test_a_supervised_task_asks_before_it_hands_out_and_its_part_asks_nobody(tmp_path: Path) -> None:
    repo, task = make(tmp_path)
    person, project = Person(tmp_path), open_project(repo)
    state = run_task(project, task, RunTerms(no_sandbox=True, mode="supervised"))
    assert state and (state.status, state.work.step) == (TaskStatus.BLOCKED, 1) and len(project.queue.tickets()) == 1
    for _ in range(3):
        assert person.types("answer", task, "1").code == 0
        state = run_task(project, task, RunTerms(no_sandbox=True, mode="supervised"))
        part = project.store.load(f"{task}-{PLACE}")
        assert state and (part.status, part.spending.calls) == (TaskStatus.DONE, 4), "it was not stopped on its way"
        if state.status is TaskStatus.DONE:
            break
    assert state.status is TaskStatus.DONE and state.spending.calls == 4
