import os
from pathlib import Path

import pytest
from view_folder import ViewFolder

from afresh.core import event as happened
from afresh.core.decision import Decision
from afresh.core.reply import Reply
from afresh.core.task import TaskStatus
from afresh.views.write_files import rebuild_view_files


def test_an_ended_task_moves_to_the_archive_and_out_of_continuity(views: ViewFolder) -> None:
    views.add("t1")
    assert (views.folder / "sessions" / "t1.md").exists()
    views.commit("t1", happened.TaskEnded(TaskStatus.DONE, "all checks pass"))
    assert not (views.folder / "sessions" / "t1.md").exists()
    assert "all checks pass" in (views.folder / "sessions" / "archive" / "t1.md").read_text()
    assert views.continuity()["tasks"] == [] and views.continuity()["pick_up"]["status"].startswith("done")
    views.commit("t1", happened.TaskEnded(TaskStatus.APPLIED, "merged"))
    assert views.continuity()["pick_up"] is None


def test_parts_that_are_no_longer_needed_go(views: ViewFolder) -> None:
    views.add("t1", goal="word " * 30_000)
    sessions = views.folder / "sessions"
    needed = sorted(path.name for path in sessions.glob("*.md"))
    assert "t1.2.md" in needed
    for number in (len(needed) + 1, len(needed) + 2):
        (sessions / f"t1.{number}.md").write_text("left over")
    views.commit("t1", happened.TaskClaimed("w"))
    assert sorted(path.name for path in sessions.glob("*.md")) == needed


def test_the_log_tells_who_decided_what_and_why(views: ViewFolder) -> None:
    views.add("t1")
    views.commit("t1", happened.DecisionMade(Decision("use a table", "model", "shorter", 2)))
    views.commit("t1", happened.ChangeKeptOrReverted(2, False, "s0", why="test_x failed"), happened.StepFinished(2, "reverted"))
    views.commit("t1", happened.QuestionAsked("which one?", ("a", "b")), happened.TaskEnded(TaskStatus.BLOCKED, "asked"))
    views.commit("t1", happened.QuestionAnswered("the first"))
    assert [
        (line["n"], line["step"], line["kind"], line["type"], line["by"], line["severity"], line["follows"])
        for line in views.log("t1")
    ] == [
        (1, 2, "decided", "approach", "model", "info", []),
        (2, 2, "settled", "outcome", "harness", "warning", [1]),
        (3, 2, "asked", "blocker", "model", "blocker", []),
        (4, 2, "ended", "blocker", "harness", "blocker", [3]),
        (5, 2, "answered", "override", "person", "info", [3]),
    ]
    assert views.log("t1")[2]["options"] == [{"option": "a", "means": ""}, {"option": "b", "means": ""}]
    assert views.log("t1")[1]["why"] == "test_x failed" and views.log("t1")[0]["at"] == "2023-11-14T22:13:20Z"


def test_an_answer_in_one_commit_with_the_next_call_belongs_to_the_step_before(views: ViewFolder) -> None:
    views.add("t1")
    views.commit("t1", happened.QuestionAnswered("go on"), happened.ReplyReceived(1, Reply()))
    views.commit("t1", happened.QuestionAsked("how?"))
    assert [line["step"] for line in views.log("t1")] == [0, 1]


def test_the_log_is_appended_to_and_the_journal_is_not_read(views: ViewFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    views.add("t1")
    views.commit("t1", happened.QuestionAnswered("one"))
    log = views.folder / "decisions" / "t1.jsonl"
    inode = log.stat().st_ino
    monkeypatch.delattr(type(views.store), "journal")
    views.commit("t1", happened.QuestionAnswered("two"))
    assert log.stat().st_ino == inode and [line["n"] for line in views.log("t1")] == [1, 2] and not views.complaints


def test_lines_that_a_crash_has_cost_come_back_from_the_journal(views: ViewFolder) -> None:
    views.add("t1")
    for text in ("one", "two", "three"):
        views.commit("t1", happened.QuestionAnswered(text))
    log = views.folder / "decisions" / "t1.jsonl"
    whole = log.read_bytes()
    first, second, _ = whole.splitlines(keepends=True)
    for damaged in (b"", first, first + second, whole[:-1], whole[:-20], whole + b'{"n":', b"\xff\x00" * 40):
        log.write_bytes(damaged)
        views.writer.saw(views.store.load("t1"), ())
        assert log.read_bytes() == whole, damaged
    log.write_bytes(whole[:-20])
    views.commit("t1", happened.QuestionAnswered("four"))
    assert [line["text"] for line in views.log("t1")] == ["one", "two", "three", "four"]


def test_a_file_that_can_not_be_written_is_reported_once_and_stops_nothing(views: ViewFolder) -> None:
    views.folder.parent.mkdir(exist_ok=True)
    views.folder.write_text("a file where the folder should be")
    views.add("t1")
    views.commit("t1", happened.QuestionAnswered("lost to the files, not to the journal"))
    assert len(views.complaints) == 1 and "afresh doctor --rebuild" in views.complaints[0]
    views.folder.unlink()
    views.commit("t1", happened.TaskClaimed("w"))
    assert views.log("t1")[0]["text"].startswith("lost to the files")
    assert views.continuity()["tasks"][0]["status"] == "running"


def test_folders_deleted_in_the_middle_of_a_task_come_back(views: ViewFolder) -> None:
    from shutil import rmtree

    views.add("t1")
    rmtree(views.folder)
    views.commit("t1", happened.QuestionAnswered("yes"))
    assert (views.folder / "sessions" / "t1.md").exists() and not views.complaints


@pytest.mark.parametrize("name", ["sessions", "decisions", "tasks"])
def test_nothing_is_written_through_a_link_of_the_repository(views: ViewFolder, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    views.folder.mkdir()
    (views.folder / name).symlink_to(outside)
    views.add("t1")
    views.commit("t1", happened.QuestionAnswered("yes"))
    assert not list(outside.iterdir()) and "symbolic link" in views.complaints[0]


def test_a_linked_log_or_session_file_is_not_followed(views: ViewFolder, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("")
    for name in ("decisions/t1.jsonl", "sessions/t1.md", "tasks/t1.json"):
        (views.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (views.folder / name).symlink_to(victim)
    views.add("t1")
    views.commit("t1", happened.QuestionAnswered("yes"))
    assert victim.read_text() == ""


def test_a_hostile_task_id_stays_inside_its_folder(views: ViewFolder) -> None:
    views.add("../../evil")
    assert [path.name for path in (views.folder / "tasks").iterdir()] == ["%2E%2E%2F%2E%2E%2Fevil.json"]


def test_a_rebuild_by_another_process_in_between_changes_nothing(views: ViewFolder) -> None:
    views.add("t1")
    views.commit("t1", happened.QuestionAnswered("yes"))
    rebuild_view_files(views.store, views.queue, views.folder)
    views.commit("t1", happened.QuestionAnswered("no"))
    assert [line["n"] for line in views.log("t1")] == [1, 2] and os.listdir(views.folder / "sessions") == ["t1.md"]
