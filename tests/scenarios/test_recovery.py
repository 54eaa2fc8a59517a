"""A task goes back to a checkpoint on purpose: the tree of then, a summary and the index in the next prompt, and nothing lost."""

import re

import pytest
from lived_once import live_once, one_folder, tmp_path  # noqa: F401
from person import COMPLETE, Person

from afresh.app.inspect.inspect_calls import verify_calls
from afresh.app.project import open_project
from afresh.core.event import CallRequested, RecoveredFromCheckpoint
from afresh.workspace.worktree import GitWorkspace

LONG = "for n in $(seq 1 60); do echo alpha_$n; done"
SCRIPT = [
    [("run", {"command": LONG})],
    [("edit", {"path": "calc.py", "old": "x + 2", "new": "x + 2  # first_try"})],
    [("note", {"subject": "early", "text": "early_note"})],
    [
        ("edit", {"path": "calc.py", "old": "first_try", "new": "second_try"}),
        ("note", {"subject": "late", "text": "late_note"}),
    ],
    [("run", {"command": "echo omega_late"})],
    [("edit", {"path": "calc.py", "old": "x + 2  # first_try", "new": "x * 2"})],
    [COMPLETE],
]


@pytest.fixture
def left(person: Person, monkeypatch: pytest.MonkeyPatch) -> Person:
    """A task that has used up its five steps; a checkpoint was written after the third."""
    monkeypatch.setenv("COLUMNS", "80")

    def work() -> None:
        told = person.runs(person.script(*SCRIPT), "--set", "max_steps=5", "--set", "budget=8000")
        assert told.code == 3 and "The limit of 5 steps" in told.words

    live_once(person, work)
    return person


def task_of(person: Person) -> str:
    return person.types("status", "--json").json["tasks"][0]["task"]


def test_checkpoints_are_listed_with_their_verdict_and_fit_a_terminal(left):
    listed = left.types("show", "--checkpoints", "--json").json
    assert [(one["step"], one["recoverable"], one["changed"]) for one in listed] == [(3, True, ["calc.py"])]
    shown = left.types("show", "--checkpoints")
    assert "step 3" in shown.out and "3 of 5 steps are taken" in shown.words and "--from 3" in shown.words
    assert max(map(len, shown.out.splitlines())) <= 80
    [file] = (left.state / "checkpoints" / task_of(left)).iterdir()
    text = file.read_text()
    assert file.name == "000003.md" and '"recoverable": true' in text and '"verdict": ' in text


def test_a_recovered_task_goes_on_from_the_summary_and_the_index_and_finishes(left):
    task = task_of(left)
    project = open_project(left.repo)
    before = project.store.load(task)
    project.storage.close()
    told = left.types("resume", task, "--from", "3")
    assert told.code == 0, told.words
    project = open_project(left.repo)
    events = [entry.event for entry in project.store.journal(task)]
    [back] = [event for event in events if isinstance(event, RecoveredFromCheckpoint)]
    assert (back.step, back.left_step, back.left_snapshot) == (3, 5, before.workspace.snapshot)
    call = next(event.audit for event in events[events.index(back) :] if isinstance(event, CallRequested))
    text = "\n".join(ref.text(project.store.read) for ref in call.sections)
    assert "Summary of older steps" in text and "- step 1: run for n in" in text, "what was done until then, in short"
    assert re.search(r"Archived outputs.*\n- [0-9a-f]{8} step 1\b.* run ", text), "the index table"
    assert "early_note" in text and "late_note" not in text and "omega_late" not in text, "later steps do not count"
    assert "first_try" in text and "second_try" not in text and before.workspace.snapshot[:12] in text, (
        "and the later tree is named"
    )
    assert all(one.same for one in verify_calls(project, task))
    after = project.store.load(task)
    assert after.status.value == "done" and after.work.step == 7


def test_what_was_left_can_be_had_again(left):
    task = task_of(left)
    project = open_project(left.repo)
    before = project.store.load(task)
    project.storage.close()
    left.types("resume", task, "--from", "3", "--model", left.script(name="none"))
    assert [one["step"] for one in left.types("show", "--checkpoints", "--json").json] == [3, 5]
    left.types("resume", task, "--from", "5", "--model", left.script(name="none"))
    after = open_project(left.repo).store.load(task)
    assert after.workspace.snapshot == before.workspace.snapshot
    assert "second_try" in (left.trees / task / "calc.py").read_text()
    assert any(fact.text == "late_note" for fact in after.memory.facts)


def test_files_of_checkpoints_are_rebuilt_to_the_byte(left):
    left.types("resume", "--from", "3")
    folder = left.state / "checkpoints"
    written = {path.relative_to(folder): path.read_text() for path in folder.rglob("*.md")}
    assert len(written) == 2 and left.types("doctor", "--rebuild").code == 0
    assert {path.relative_to(folder): path.read_text() for path in folder.rglob("*.md")} == written


def test_killed_before_the_tree_is_put_back_it_goes_on_from_there(left, monkeypatch):
    task, whole = task_of(left), GitWorkspace.restore

    def die(self, snapshot, paths=()):
        raise KeyboardInterrupt

    monkeypatch.setattr(GitWorkspace, "restore", die)
    assert left.types("resume", task, "--from", "3").code != 0
    monkeypatch.setattr(GitWorkspace, "restore", whole)
    assert "second_try" in (left.trees / task / "calc.py").read_text(), "the tree is still the later one"
    assert left.types("resume", task, "--from", "3").code == 0
    assert open_project(left.repo).store.load(task).work.step == 7
