"""Where to pick up: enough to go on with, under 2,000 tokens whatever there is to tell."""

from dataclasses import replace
from pathlib import Path

import pytest
from full_states import states, words
from hypothesis import given
from hypothesis import strategies as st
from view_folder import ViewFolder, files

from afresh.core import event as happened
from afresh.core.decision import Decision
from afresh.core.fact import Fact, FactKind
from afresh.core.prompt import CallAudit
from afresh.core.state import State
from afresh.core.states.dialogue_state import DialogueState
from afresh.core.states.memory_state import MemoryState
from afresh.core.states.strategy_state import PlanItem
from afresh.core.states.verification_state import VerificationState
from afresh.core.states.work_state import WorkState
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.task import Check, QueueTicket, Task, TaskStatus, UnmetNeed
from afresh.core.text import to_visible_json
from afresh.core.tokens import EstimatingCounter
from afresh.core.verdict import Baseline, CheckRun, FailedTest, Ruling, Verdict
from afresh.views import continuity_file as continuity
from afresh.views.bounded_json import (
    count_tokens,
    list_within_tokens,
    truncate_lines_to_tokens,
    truncate_to_bytes,
    truncate_to_tokens,
)
from afresh.views.continuity_file import MAX_CHECKPOINT_FILES, summarise_for_handover
from afresh.views.task_list import MAX_TASK_ROWS, QueueHead
from support.states import replace_in_parts


@given(words, st.integers(2, 200))
def test_what_is_cut_fits_its_room_and_what_fits_is_not_cut(text: str, room: int) -> None:
    for cut in (truncate_to_tokens, truncate_lines_to_tokens):
        assert count_tokens(to_visible_json(cut(text, room))[1:-1]) <= room
    assert len(to_visible_json(truncate_to_bytes(text, room + 8)).encode()) <= room + 8
    if "\n" not in text and count_tokens(text) + 2 * text.count('"') + 10 * text.count("\x1b") < room // 8:
        assert truncate_lines_to_tokens(text, room) == text


def test_words_that_fit_are_kept_as_they_were_said() -> None:
    said = 'Do not touch "tests/",\n\teven if   asked'
    assert truncate_lines_to_tokens(said, 60) == said and "\n" not in truncate_to_tokens(said, 60)


@given(st.lists(words, max_size=12))
def test_a_list_tells_how_many_it_leaves_out(texts: list[str]) -> None:
    shown = list_within_tokens(texts, 60, 20)
    assert sum(count_tokens(to_visible_json(text)[1:-1]) for text in shown) <= 60
    left = len(texts) - len(shown)
    assert left == 0 or shown[-1] == f"and {left + 1:,} more"


@given(st.lists(states(), min_size=1, max_size=2), st.integers(0, 9), st.sampled_from([0, 1, 300]), words)
def test_it_is_under_two_thousand_tokens_whatever_there_is_to_tell(some, active: int, others: int, name: str) -> None:
    made: dict[str, State] = {}
    for number in range(active):
        one, task = some[number % len(some)], f"{number}{name[:200]}"
        made[task] = replace_in_parts(one, task=replace(one.task, id=task), branch=f"afresh/{task}")
    waits = (UnmetNeed(name),) * 9
    tickets = [QueueTicket(task, "", "", state.status, 0, (name,) * 9, False, unmet=waits) for task, state in made.items()]
    current = [ticket for ticket in tickets if not ticket.status.over]
    over = [QueueTicket(f"{name[:60]}{number}", "", "", TaskStatus.DONE, 0, (), False) for number in range(min(others, 24))]
    head = QueueHead(current[:MAX_TASK_ROWS], len(current), over, others)
    text = continuity.render_continuity(head, lambda task: made.get(task, some[0]))
    assert EstimatingCounter()(text) < 2_000 and count_tokens(text) < 2_000 and len(text.encode()) < 6_000


STATE = State(
    task=Task(id="t1", goal="Split it.", checks=(Check("pytest -q"),)),
    status=TaskStatus.RUNNING,
    workspace=WorkspaceState(branch="afresh/t1", base="abcdef0123456789", first_snapshot="s0", changed=("src/a.py", "src/b.py")),
    verification=VerificationState(
        baseline=Baseline((CheckRun("pytest -q", 1, passed=3, failed=1, failures=(FailedTest("test_old", "as ever"),)),))
    ),
    work=WorkState(step=4, limit=60, plan=(PlanItem("read it", True), PlanItem("extract the parser")), outcome="kept"),
    memory=MemoryState(
        facts=(Fact(FactKind.RULE, "style", "never use globals"), Fact(FactKind.FAILED_APPROACH, "inline it all", "breaks")),
        decisions=(Decision("keep it", "person"),),
    ),
    dialogue=DialogueState(words=("first this", "then\nthat")),
)


def test_a_stranger_is_told_all_he_needs() -> None:
    told = summarise_for_handover(STATE)
    assert told["goal"] == "Split it." and told["last instruction"] == "then\nthat" and told["branch"] == "afresh/t1"
    assert (
        "git worktree list" in told["worktree"]
        and told["changed"] == ["src/a.py", "src/b.py"]
        and told["pending"] == ["extract the parser"]
    )
    assert told["tests"] == "before the first change: 3 passed, 1 failed" and told["failing"] == ["test_old: as ever"]
    assert told["constraints"] == [
        "never use globals",
        "finished when these exit 0: pytest -q",
        "4,000 tokens a call now; set to 4,000, at most 16,000",
    ]
    assert told["failed, not to be tried again"] == ["inline it all"] and told["command"] == "afresh resume t1"
    assert "question" not in told, "nothing is said where there is nothing to say"


def test_what_an_undone_step_did_to_the_tests_is_no_news_of_the_tree() -> None:
    red = Verdict(Ruling.FAIL, "worse", (CheckRun("pytest -q", 1, failed=4, failures=(FailedTest("test_new"),)),), ("test_new",))
    undone = replace_in_parts(STATE, verdict=red, verdict_step=4, is_undone=True)
    told = summarise_for_handover(undone)
    assert told["tests"] == "after step 4: 4 failed (undone); before: 3 passed, 1 failed"
    assert told["failing"] == ["test_old: as ever"]
    kept = summarise_for_handover(replace_in_parts(undone, is_undone=False))
    assert kept["tests"] == "after step 4: 4 failed; before: 3 passed, 1 failed" and kept["failing"] == ["test_new"]


def test_continuity_names_running_before_blocked_before_ready_before_waiting(views: ViewFolder) -> None:
    views.add("ready", priority=5)
    views.add("waits", needs=("ready",), priority=9)
    views.add("asks")
    views.commit("asks", happened.QuestionAsked("how?"), happened.TaskEnded(TaskStatus.BLOCKED, "asked"))
    views.add("runs")
    views.commit("runs", happened.TaskClaimed("w"))
    found = views.continuity()
    assert [row["task"] for row in found["tasks"]] == ["runs", "asks", "ready", "waits"]
    assert found["tasks"][3]["waits for"] == "ready" and found["pick_up"]["task"] == "runs"
    views.commit("ready", happened.TaskEnded(TaskStatus.DONE, "done"))
    assert "waits for" not in views.continuity()["tasks"][-1]


def test_continuity_follows_every_step_and_still_is_what_a_rebuild_gives(views: ViewFolder) -> None:
    views.add("first")
    views.add("waits", needs=("first",))
    views.commit("first", happened.TaskClaimed("w"))
    views.commit("first", happened.StepFinished(1, "looked around"))
    views.commit("waits", happened.PlanSet((PlanItem("begin"),)))
    found = (views.folder / "continuity.json").read_bytes()
    assert views.continuity()["pick_up"]["last outcome"] == "looked around"
    assert views.continuity()["tasks"][1]["waits for"] == "first"
    assert views.rebuilt()["continuity.json"] == found


def test_with_nothing_active_it_is_about_what_waits_for_a_word(views: ViewFolder) -> None:
    for task in ("older", "newer", "seen"):
        views.add(task)
        views.commit(task, happened.TaskEnded(TaskStatus.DONE, "all checks pass", "abcdef0123456789"))
    views.commit("seen", happened.TaskEnded(TaskStatus.DISCARDED, "no"))
    found = views.continuity()
    assert (found["pick_up"]["task"], found["pick_up"]["command"]) == ("newer", "afresh apply newer")
    assert found["over, to be applied or discarded"] == ["newer (done)", "older (done)"]


def test_a_step_of_a_task_without_a_row_loads_nothing(views: ViewFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(9):
        views.add(f"t{number}")
        views.commit(f"t{number}", happened.TaskClaimed("w"))
    before = files(views.folder)["continuity.json"]
    monkeypatch.setattr(views.queue, "tickets", None)
    views.commit("t8", happened.StepFinished(1, "looked around"))
    assert not views.complaints and files(views.folder)["continuity.json"] == before
    monkeypatch.undo()
    assert before == views.rebuilt()["continuity.json"]


def test_adding_a_task_that_the_file_does_not_name_asks_no_memory(views: ViewFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        views.add(f"t{number}")
    monkeypatch.setattr(views.writer, "facts", None)
    views.add("t7")
    monkeypatch.undo()
    views.add("urgent", priority=1)
    assert not views.complaints and views.continuity()["tasks"][0]["task"] == "urgent" and views.continuity()["active"] == 8
    views.add("t9")
    written = files(views.folder)["continuity.json"]
    assert views.continuity()["active"] == 9 and written == views.rebuilt()["continuity.json"]


def test_adding_a_task_beside_a_file_that_names_others_makes_it_again(views: ViewFolder) -> None:
    for number in range(6):
        views.add(f"t{number}")
    stale = (views.folder / "continuity.json").read_text().replace("t3", "gone")
    (views.folder / "continuity.json").write_text(stale)
    views.add("t6")
    assert [row["task"] for row in views.continuity()["tasks"]] == [f"t{number}" for number in range(6)]


def test_a_file_that_somebody_has_damaged_is_made_again(views: ViewFolder) -> None:
    views.add("t1")
    for damaged in ("", "{", "[]", '{"tasks": [{}]}', '{"tasks": [{"task": "t1"}]}', '{"tasks": []}'):
        (views.folder / "continuity.json").write_text(damaged)
        views.commit("t1", happened.PlanSet((PlanItem(f"after {damaged}"),)))
        assert views.continuity()["pick_up"]["task"] == "t1" and not views.complaints, damaged


def test_a_linked_file_is_replaced_and_not_written_through(views: ViewFolder, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    views.folder.mkdir()
    (views.folder / "continuity.json").symlink_to(victim)
    views.add("t1")
    assert victim.read_text() == "mine" and not (views.folder / "continuity.json").is_symlink()


def test_it_tells_session_use_of_the_context_progress_and_the_last_checkpoint_in_numbers(views: ViewFolder) -> None:
    views.add("one")
    views.commit("one", happened.TaskClaimed("w"))
    audit = CallAudit("h", 4_000, 2_900, (), (), reserve=400, window=100_000)
    views.commit("one", happened.CallRequested(1, audit))
    found = views.continuity()["pick_up"]
    assert found["of the model's window, %"] == 2.9, "it is told before the reply is acted on"
    assert "last checkpoint" not in found and found["session"] == "one#1"
    views.commit("one", happened.PlanSet((PlanItem("a", done=True), PlanItem("b"))), happened.StepFinished(1, "done"))
    views.commit("one", happened.CheckpointWritten(1, "why"))
    found = views.continuity()["pick_up"]
    limit = Task(id="one", goal="g").max_steps
    assert found["progress"] == {"steps": 1, "of": limit, "percent": 100 // limit, "plan items": 2, "done": 1}
    path, _, when = found["last checkpoint"].partition(", ")
    assert when == "after step 1" and (views.folder / path).is_file()


def test_the_status_of_a_task_with_a_long_name_is_told(views: ViewFolder) -> None:
    name = "add-functions-f2-f8-and-so-on-and-so-forth-until-it-is-long-enough-af8a"
    views.add(name)
    views.commit(name, happened.TaskEnded(TaskStatus.DONE, "all checks pass", "abcdef0123456789"))
    [line] = views.continuity()["over, to be applied or discarded"]
    assert line.endswith("(done)") and line.startswith("add-functions")


def test_a_bounded_series_of_checkpoints_is_kept(views: ViewFolder) -> None:
    views.add("one")
    views.commit("one", happened.TaskClaimed("w"))
    for step in range(1, MAX_CHECKPOINT_FILES + 4):
        views.commit("one", happened.StepFinished(step, "done"), happened.CheckpointWritten(step, "why"))
    names = sorted(path.name for path in (views.folder / "checkpoints" / "one").iterdir())
    assert len(names) == MAX_CHECKPOINT_FILES and names[-1] == f"{MAX_CHECKPOINT_FILES + 3:06}.md"
