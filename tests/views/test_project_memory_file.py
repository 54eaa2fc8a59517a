"""What finished tasks leave behind: small, the same however it came about, and without the cost of loading them all."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from view_folder import ViewFolder, files

from afresh.core import event as happened
from afresh.core.decision import Decision
from afresh.core.event import JournalHead
from afresh.core.fact import Fact, FactKind, FactScope
from afresh.core.redaction import redact_secrets
from afresh.core.reply import Reply
from afresh.core.state import State, TaskTimes
from afresh.core.states.dialogue_state import DialogueState
from afresh.core.states.memory_state import MemoryState
from afresh.core.states.verification_state import VerificationState
from afresh.core.states.work_state import WorkState
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.task import QueueTicket, Task, TaskStatus
from afresh.core.usage import Usage
from afresh.core.verdict import CheckRun, Ruling, Verdict
from afresh.views import project_memory_file as project_memory
from afresh.views.task_history import render_history_file, update_history

RUN = CheckRun("pytest -q", 0, passed=39, seconds=1.23)
PASS = happened.VerdictReached(1, Verdict(Ruling.PASS, "all checks pass", (RUN,), final=True))
FACTS = (
    Fact(FactKind.RULE, "tests", "never touch tests/", scope=FactScope.PROJECT),
    Fact(FactKind.RULE, "today", "only this once"),
    Fact(FactKind.FAILED_APPROACH, "inline the parser", "test_x fails", block="ab" * 32, lines=(3, 9), step=1),
    Fact(FactKind.CHECK, "python", "needs 3.11", block="cd" * 32),
    Fact(FactKind.OBSERVED, "test_y", "was seen to fail"),
)


def finish(
    views: ViewFolder, task: str, status: TaskStatus = TaskStatus.DONE, at: float = 1_700_000_000.0, facts=FACTS, paths=("a.py",)
) -> None:
    views.add(task, goal=f"goal of {task}")
    views.commit(task, happened.TaskClaimed("w"), at=at)
    views.commit(task, happened.ReplyReceived(1, Reply("", (), Usage(100, 10))), at=at)
    made = happened.DecisionMade(Decision(f"decided in {task}", "person", "because"))
    views.commit(
        task,
        happened.OutputDigested(facts),
        made,
        PASS,
        happened.ChangeKeptOrReverted(1, True, "s", paths),
        happened.StepFinished(1, ""),
        at=at,
    )
    views.commit(task, happened.TaskEnded(status, f"end of {task}", "c0ffee" * 7), at=at)


def test_a_stranger_learns_what_the_project_has_learnt(views: ViewFolder) -> None:
    finish(views, "t1", at=1_000.0)
    finish(views, "t2", at=2_000.0, paths=("a.py", "b.py"))
    found = views.json("project_memory.json")
    totals = found["totals"]
    assert (totals["finished tasks"], totals["done"], totals["steps"], totals["tokens in"]) == (2, 2, 2, 200)
    assert [row["text"] for row in found["rules in force"]] == ["never touch tests/"], "and nothing that was only for its task"
    assert [row["text"] for row in found["decisions by persons"]] == ["decided in t2", "decided in t1"]
    failed = found["failed approaches"][0]
    assert (failed["subject"], failed["evidence"], failed["task"]) == ("inline the parser", "abababababab:3-9", "t2")
    assert [row["text"] for row in found["known"]] == ["needs 3.11"]
    assert found["checks that pass"][0] | {"at": ""} == {
        "command": "pytest -q", "seconds": 1.2, "passed": 39, "task": "t2", "at": "",
    }  # fmt: skip
    assert found["files changed most"] == [{"path": "a.py", "tasks": 2, "last": "t2"}, {"path": "b.py", "tasks": 1, "last": "t2"}]
    assert [row["task"] for row in found["tasks"]] == ["t2", "t1"] and found["tasks"][0]["outcome"] == "end of t2"


def test_what_was_thrown_away_changed_no_file_and_proved_nothing_but_its_failures_stay(views: ViewFolder) -> None:
    finish(views, "t1")
    views.commit("t1", happened.TaskEnded(TaskStatus.DISCARDED, "not wanted"))
    found = views.json("project_memory.json")
    assert found["files changed most"] == [] and found["known"] == [] and len(found["failed approaches"]) == 1
    assert found["totals"]["done"] == 0 and found["totals"]["discarded"] == 1


def test_a_newer_word_on_a_subject_takes_the_place_of_the_older(views: ViewFolder) -> None:
    rule = Fact(FactKind.RULE, "tests", "tests/ may change", scope=FactScope.USER)
    finish(views, "t1", at=1_000.0)
    finish(views, "t2", at=2_000.0, facts=(rule,))
    assert [row["text"] for row in views.json("project_memory.json")["rules in force"]] == ["tests/ may change"]
    finish(views, "t3", at=3_000.0, facts=(replace(rule, text=""),))
    assert views.json("project_memory.json")["rules in force"] == [], "taken back"


def test_a_running_task_touches_neither_file(views: ViewFolder) -> None:
    finish(views, "t1")
    before = {name: (views.folder / name).stat().st_ino for name in ("history.jsonl", "project_memory.json")}
    views.add("t2")
    views.commit("t2", happened.TaskClaimed("w"))
    views.commit("t2", happened.StepFinished(1, ""))
    assert before == {name: (views.folder / name).stat().st_ino for name in before}


def test_the_end_of_a_task_loads_no_other(views: ViewFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        finish(views, f"t{number}")
    monkeypatch.setattr(type(views.store), "load", lambda store, task: pytest.fail(f"{task} was loaded"))
    finish(views, "t9")
    assert not views.complaints and views.json("project_memory.json")["totals"]["finished tasks"] == 6


@pytest.mark.parametrize("damage", ["", "{", "null\n[]\n", '{"task": "t1"}\n', '{"task": "gone", "shape": 1}\n'])
def test_a_history_that_is_gone_or_damaged_is_made_again(views: ViewFolder, damage: str) -> None:
    finish(views, "t1")
    finish(views, "t2")
    (views.folder / "history.jsonl").write_text(damage)
    finish(views, "t3")
    assert not views.complaints and views.json("project_memory.json")["totals"]["finished tasks"] == 3
    before = files(views.folder)
    assert views.rebuilt() == before


def test_a_writer_that_comes_late_does_not_bring_back_what_was(views: ViewFolder) -> None:
    finish(views, "t1")
    late = views.store.load("t1")
    views.commit("t1", happened.TaskEnded(TaskStatus.APPLIED, "merged"))
    views.writer.saw(late, ())
    assert [row["status"] for row in views.json("project_memory.json")["tasks"]] == ["applied"]


def test_an_end_that_no_writer_saw_is_made_up_for_at_the_next(views: ViewFolder) -> None:
    finish(views, "t1")
    views.project.commit("t1", [happened.TaskEnded(TaskStatus.DISCARDED, "by a process that was killed")], at=1_700_000_001.0)
    finish(views, "t2")
    assert {row["task"]: row["status"] for row in views.json("project_memory.json")["tasks"]} == {"t1": "discarded", "t2": "done"}
    before = (views.folder / "project_memory.json").read_bytes()
    assert views.rebuilt()["project_memory.json"] == before


def test_nothing_is_read_through_a_link(views: ViewFolder, tmp_path: Path) -> None:
    finish(views, "t1")
    history = views.folder / "history.jsonl"
    (tmp_path / "elsewhere").write_text(history.read_text().replace("goal of t1", "not the goal"))
    history.unlink()
    history.symlink_to(tmp_path / "elsewhere")
    finish(views, "t2")
    assert {row["goal"] for row in views.json("project_memory.json")["tasks"]} == {"goal of t1", "goal of t2"}


def test_nothing_is_written_through_a_link(views: ViewFolder, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    views.folder.mkdir()
    for name in ("history.jsonl", "project_memory.json"):
        (views.folder / name).symlink_to(victim)
    finish(views, "t1")
    assert victim.read_text() == "mine" and views.json("project_memory.json")["totals"]["finished tasks"] == 1


def test_keys_that_a_command_has_printed_are_masked(views: ViewFolder) -> None:
    key = "sk-ant-" + "api03-abcdefghijklmnop"
    finish(views, "t1", facts=(Fact(FactKind.CHECK, "the key", f"is {key}, at https://me:{'pass' + 'word'}@host/x"),))
    text = (views.folder / "project_memory.json").read_text()
    assert "[redacted]" in text and key not in text and "password" not in text and "@host/x" in text


@given(st.text(max_size=200))
def test_plain_text_is_not_masked(text: str) -> None:
    assert "[redacted]" in redact_secrets(text) or redact_secrets(text) == text
    assert redact_secrets("task_list = sketch-of-a-long-identifier") == "task_list = sketch-of-a-long-identifier"


scraps = st.text(max_size=4) | st.sampled_from(['"', "\x1b", "漢", "word "])
texts = st.builds(lambda scrap, times: scrap * times, scraps, st.integers(1, 200))


@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(texts, min_size=1, max_size=4), st.integers(1, 24))
def test_it_is_bounded_whatever_the_tasks_have_left(said: list[str], tasks: int) -> None:
    made: dict[str, State] = {}
    for number in range(tasks):
        task = f"{number}{said[0][:100]}"
        many = [(f"{number}{n}{one}", one) for n, one in enumerate(said * 4)]
        made[task] = State(
            task=Task(id=task, goal=said[0]),
            status=TaskStatus.DONE,
            head=JournalHead(number, ""),
            dialogue=DialogueState(words=tuple(said * 4)),
            work=WorkState(outcome=said[-1]),
            verification=VerificationState(
                verdict=Verdict(Ruling.PASS, said[0], tuple(CheckRun(command, 0) for command, _ in many))
            ),
            times=TaskTimes(updated=number),
            memory=MemoryState(
                facts=tuple(Fact(kind, subject, one, scope=FactScope.PROJECT) for kind in FactKind for subject, one in many)
            ),
            workspace=WorkspaceState(changed=tuple(path for path, _ in many)),
        )
    tickets = [QueueTicket(task, "", "", TaskStatus.DONE, 0, (), False) for task in made]
    lines = update_history("", made, tickets, made.__getitem__)
    text = project_memory.render_project_memory(one.line for one in lines)
    assert len(text.encode()) <= 32_768 and json.loads(text)
    assert len(lines) == tasks and update_history(render_history_file(lines), {}, tickets, pytest.fail) == lines
