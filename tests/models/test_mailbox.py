import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from afresh.core.action import Action
from afresh.core.codec import get_decoder
from afresh.core.prompt import REVIEW_REQUEST, Request
from afresh.errors import BadInput, TryAgain
from afresh.models.mailbox import MailboxModel, MailboxTimeouts
from afresh.models.mailbox_files import MAX_FILE_BYTES, list_open_requests
from support.model_contract import make_sample_request

REPLY = '{"thought": "look first", "actions": [{"tool": "read", "args": {"path": "a.py"}}]}'
SOON = MailboxTimeouts(reply=600.0, writer=0.2)
STEM = f"0001-{make_sample_request().hash[:12]}"


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def meanwhile(answer: Callable[[], None]) -> Thread:
    thread = Thread(target=answer, daemon=True)
    thread.start()
    return thread


def test_the_request_is_posted_and_the_reply_is_taken(tmp_path: Path) -> None:
    def answer() -> None:
        until((tmp_path / f"{STEM}.request.md").exists)
        assert (tmp_path / f"{STEM}.request.json").exists(), "the page is written last"
        (tmp_path / f"{STEM}.reply.json").write_text(REPLY)

    meanwhile(answer)
    reply = MailboxModel(tmp_path / "", patience=SOON).propose(make_sample_request())
    assert reply.thought == "look first" and reply.actions == (Action("read", {"path": "a.py"}),)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"{STEM}.{end}" for end in ("reply.json", "request.json", "request.md")
    ]


def test_a_reply_that_was_too_long_at_first_says_so_when_it_is_taken(tmp_path: Path) -> None:
    def answer() -> None:
        until((tmp_path / f"{STEM}.request.md").exists)
        (tmp_path / f"{STEM}.reply.json").write_text(json.dumps({"thought": "too much " * 2_000}))
        until((tmp_path / f"{STEM}.problem.txt").exists)
        (tmp_path / f"{STEM}.reply.json").write_text(REPLY)

    meanwhile(answer)
    model = MailboxModel(tmp_path, patience=SOON)
    assert model.propose(make_sample_request()).cramped
    (tmp_path / f"{STEM.replace('0001', '0002')}.reply.json").write_text(REPLY)
    assert not model.propose(make_sample_request()).cramped, "that is over with the reply"


def test_the_files_hold_the_exact_request_and_no_more(tmp_path: Path) -> None:
    request = make_sample_request()
    (tmp_path / f"{STEM}.reply.json").write_text(REPLY)
    MailboxModel(tmp_path, patience=SOON).propose(request)
    again: Request = get_decoder(Request)(json.loads((tmp_path / f"{STEM}.request.json").read_text(encoding="utf-8")))
    assert again.hash == request.hash
    page = (tmp_path / f"{STEM}.request.md").read_text(encoding="utf-8")
    assert request.system in page and request.message in page
    for tool in request.tools:
        assert f"- {tool.name}: {tool.description}" in page
    assert str(tmp_path) not in page


def test_the_example_on_the_page_is_a_valid_reply(tmp_path: Path) -> None:
    with pytest.raises(TryAgain):
        MailboxModel(tmp_path, patience=MailboxTimeouts(reply=0.01)).propose(make_sample_request())
    page = (tmp_path / f"{STEM}.request.md").read_text(encoding="utf-8")
    (tmp_path / f"{STEM}.reply.json").write_text(page[page.rindex("For example:") + len("For example:") :])
    assert MailboxModel(tmp_path, patience=SOON).propose(make_sample_request()).actions == (Action("read", {"path": "..."}),)


def test_a_review_of_a_changed_test_is_marked_and_its_own_form_is_a_reply(tmp_path: Path) -> None:
    request = replace(make_sample_request(), kind=REVIEW_REQUEST, tools=())
    with pytest.raises(TryAgain):
        MailboxModel(tmp_path, patience=MailboxTimeouts(reply=0.01)).propose(request)
    [asked] = list_open_requests(tmp_path)
    page = (tmp_path / f"{asked.stem}.request.md").read_text()
    assert asked.kind == "review" and page.startswith("<!-- a REVIEW of a changed test, and no step of the task")
    (tmp_path / f"{asked.stem}.reply.json").write_text('{"how": "neither", "asked": false, "quote": ""}')
    assert json.loads(MailboxModel(tmp_path).propose(request).thought)["how"] == "neither"


def test_a_killed_process_finds_its_question_and_the_answer_again(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from afresh.models.mailbox import MailboxModel; from support.model_contract import make_sample_request\n"
        "print(MailboxModel(Path(sys.argv[1]), start=4).propose(make_sample_request()).thought)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", code, str(tmp_path)]
    stem = f"0005-{make_sample_request().hash[:12]}"
    first = subprocess.Popen(command, env=environment)
    until((tmp_path / f"{stem}.request.md").exists)
    first.send_signal(signal.SIGKILL)
    first.wait()
    posted = (tmp_path / f"{stem}.request.md").stat().st_mtime_ns
    (tmp_path / f"{stem}.reply.json").write_text(REPLY)
    second = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=True)
    assert second.stdout == "look first\n"
    assert (tmp_path / f"{stem}.request.md").stat().st_mtime_ns == posted, "asked once only"


def test_a_time_out_keeps_the_question_open(tmp_path: Path) -> None:
    model = MailboxModel(tmp_path, patience=MailboxTimeouts(reply=0.01))
    with pytest.raises(TryAgain, match=STEM):
        model.propose(make_sample_request())
    (tmp_path / f"{STEM}.reply.json").write_text(REPLY)
    assert model.propose(make_sample_request()).thought == "look first"


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (
            '{"thought": "x", "actions": [{"tool": "red"}]}',
            "there is no tool 'red'; there are apply, complete, read",
        ),
        ('{"actions": [{"tool": "read", "args": {}}]}', "missing argument path"),
        ('["read"]', "must be a JSON object"),
        ("I would read a.py", "not JSON"),
        ("", "not JSON"),
        (REPLY[:-10], "not JSON"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_bad_reply_is_put_aside_with_the_reason_and_a_better_one_taken(tmp_path: Path, bad: str, problem: str) -> None:
    def answer() -> None:
        until((tmp_path / f"{STEM}.request.md").exists)
        (tmp_path / f"{STEM}.reply.json").write_text(bad)
        until((tmp_path / f"{STEM}.rejected.json").exists)
        (tmp_path / f"{STEM}.reply.json").write_text(REPLY)

    meanwhile(answer)
    assert MailboxModel(tmp_path, patience=SOON).propose(make_sample_request()).thought == "look first"
    assert (tmp_path / f"{STEM}.rejected.json").read_text() == bad
    assert problem in (tmp_path / f"{STEM}.problem.txt").read_text()


def test_a_reply_that_is_still_being_written_is_waited_for(tmp_path: Path) -> None:
    def answer() -> None:
        until((tmp_path / f"{STEM}.request.md").exists)
        with open(tmp_path / f"{STEM}.reply.json", "w", encoding="utf-8") as file:
            for character in REPLY:
                file.write(character)
                file.flush()
                time.sleep(0.005)

    meanwhile(answer)
    model = MailboxModel(tmp_path, patience=MailboxTimeouts(reply=20.0, writer=5.0))
    assert model.propose(make_sample_request()).actions[0].tool == "read"
    assert not (tmp_path / f"{STEM}.rejected.json").exists()


@pytest.mark.parametrize("task", ["../../etc/x", "a/b", ".hidden", "ü" * 80, "x" * 300])
def test_no_name_of_a_task_leads_out_of_the_folder(tmp_path: Path, task: str) -> None:
    box = tmp_path / "box"
    with pytest.raises(TryAgain):
        MailboxModel(box, patience=MailboxTimeouts(reply=0.01), task=task).propose(make_sample_request())
    assert [path.name for path in tmp_path.iterdir()] == ["box"] and len(list_open_requests(box)) == 1


def test_a_link_is_not_followed_and_the_model_told(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(REPLY)
    box = tmp_path / "box"
    box.mkdir()
    (box / f"{STEM}.reply.json").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TryAgain):
        MailboxModel(box, patience=MailboxTimeouts(reply=0.01, writer=0)).propose(make_sample_request())
    assert "no plain file" in (box / f"{STEM}.problem.txt").read_text() and (tmp_path / "elsewhere").read_text() == REPLY


def test_a_pipe_in_place_of_a_reply_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f"{STEM}.reply.json")
    with pytest.raises(TryAgain):
        MailboxModel(tmp_path, patience=MailboxTimeouts(reply=0.01, writer=0)).propose(make_sample_request())
    assert (tmp_path / f"{STEM}.rejected.json").exists()


def test_a_file_without_end_is_not_read(tmp_path: Path) -> None:
    with open(tmp_path / f"{STEM}.reply.json", "wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(TryAgain):
        MailboxModel(tmp_path, patience=MailboxTimeouts(reply=0.01, writer=0)).propose(make_sample_request())
    assert f"{MAX_FILE_BYTES:,} are the most" in (tmp_path / f"{STEM}.problem.txt").read_text()


def test_a_reply_that_a_provider_would_cut_is_put_aside_with_the_figure(tmp_path: Path) -> None:
    (tmp_path / f"{STEM}.reply.json").write_text(json.dumps({"thought": "word " * 1_000}))
    with pytest.raises(TryAgain):
        MailboxModel(tmp_path, patience=MailboxTimeouts(reply=0.01)).propose(make_sample_request())
    assert "its limit is 800. Shorten it by about" in (tmp_path / f"{STEM}.problem.txt").read_text()


def test_links_that_wait_where_files_will_be_written_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    box = tmp_path / "box"
    box.mkdir()
    for name in (f"{STEM}.request.md", f"{STEM}.problem.txt", f".{STEM}.request.md.{os.getpid()}"):
        (box / name).symlink_to(tmp_path / "nothing" if name.endswith(".md") else tmp_path / "mine")
    (box / f"{STEM}.reply.json").write_text("[]")
    with pytest.raises(TryAgain):
        MailboxModel(box, patience=MailboxTimeouts(reply=0.01)).propose(make_sample_request())
    assert (tmp_path / "mine").read_text() == "mine" and not (tmp_path / "nothing").exists()


def test_a_new_folder_is_private_and_ignored_by_git(tmp_path: Path) -> None:
    box = tmp_path / "deep" / "box"
    with pytest.raises(TryAgain):
        MailboxModel(box, patience=MailboxTimeouts(reply=0.01)).propose(make_sample_request())
    assert box.stat().st_mode & 0o777 == 0o700 and (box / ".gitignore").read_text() == "*\n"


def test_a_folder_that_anybody_can_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "box").mkdir()
    (tmp_path / "box").chmod(0o777)
    with pytest.raises(BadInput, match="answer in the model's place") as caught:
        MailboxModel(tmp_path / "box").propose(make_sample_request())
    assert "choose another folder" in caught.value.next and not list((tmp_path / "box").iterdir())


def test_a_folder_that_commands_of_a_task_can_write_is_refused(tmp_path: Path) -> None:
    tree, outside = tmp_path / ".afresh/state/worktrees/task", tmp_path / "share/afresh/worktrees/repo-1234/task"
    tree.mkdir(parents=True)
    (tmp_path / "link").symlink_to(tree)
    for box in (tree / "box", tmp_path / "link" / "box", outside / "box"):
        with pytest.raises(BadInput, match="commands of a task may write"):
            MailboxModel(box).propose(make_sample_request())
