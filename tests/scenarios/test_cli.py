"""Every command, once as a person reads it and once as a script does."""

import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lived_once import live_once, one_folder, tmp_path  # noqa: F401
from person import CHECK, COMPLETE, MEND, Person, Told

from afresh.app.orders.tasks import end_task
from afresh.app.project import open_project
from afresh.context.sources.task_and_messages import NEWEST_MESSAGE_HEADING
from afresh.core.task import TaskStatus


@pytest.fixture(autouse=True)
def confined(requires_sandbox) -> None:
    requires_sandbox()


@pytest.fixture
def done(person: Person) -> str:
    """A task that was worked on to its verified end."""

    def work() -> None:
        assert person.runs(person.script([MEND], [COMPLETE])).code == 0

    return live_once(person, work)


def both(person: Person, *args: str) -> tuple[Told, Told]:
    plain, scripted = person.types(*args), person.types(*args, "--json")
    assert plain.code == scripted.code
    return plain, scripted


def test_init_makes_a_config_that_can_be_read_and_keeps_one_that_is_there(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")  # the machine's may lack pytest
    first = person.types("init")
    assert first.code == 0 and "made .afresh/config.toml" in first.out and "python -m pytest -q" in first.out
    person.write(".afresh/config.toml", 'checks = ["true"]\n')
    again = person.types("init")
    assert "kept .afresh/config.toml" in again.out and "checks: true" in again.out
    assert person.git("status", "--porcelain", "-uall") == "?? .afresh/config.toml", "the state is ignored"


def test_tasks_are_added_listed_and_worked_on_in_order(person: Person) -> None:
    script = person.script([MEND], [COMPLETE])
    first = person.adds("mend double", "--model", script, "--priority", "1")
    again = ("edit", {"path": "calc.py", "old": "x + 2", "new": "2 * x"})
    second = person.adds("mend it again", "--model", person.script([again], [COMPLETE], name="again"), "--after", first[:9])
    early = person.types("resume", second)
    assert early.code == 3 and f"is waiting for {first} (ready)" in early.err
    listed, rows = both(person, "status")
    assert f"after {first}" in person.types("status", "--all").out and second[-8:] in listed.out
    assert [(row["task"], row["ready"], row["needs"]) for row in rows.json["tasks"]] == [
        (first, True, []),
        (second, False, [first]),
    ]
    worked = person.types("work", "--until-empty", "--json")
    assert worked.code == 0
    assert [(row["task"], row["status"]) for row in worked.json] == [(first, "done"), (second, "done")]
    assert person.types("work").out == "no tasks ready\n"
    table, status = both(person, "status")
    assert first[-8:] in table.out and "2 done" in table.out
    assert [row["next"] for row in status.json["tasks"]] == [f"afresh apply {first[-8:]}", f"afresh apply {second[-8:]}"]


def test_run_shows_its_progress_and_ends_with_a_summary(person: Person) -> None:
    before = person.belongings()
    told = person.runs(person.script([MEND], [COMPLETE]), check=CHECK)
    assert told.code == 0
    assert "before the first change: 1 passed, 1 failed" in told.err and "verified" in told.err
    assert "PASS" in told.out and "1 passed, 1 failed → 2 passed" in told.words and "+    return x * 2" in told.out
    assert person.belongings() == before, "the checkout is the user's until it is applied"


def test_a_script_that_ends_early_leaves_a_task_that_can_be_resumed(person: Person) -> None:
    told = person.runs(person.script([MEND]))
    assert told.code == 4 and "the script has 1 replies and this is call 2" in told.err and "everything up to" in told.err
    resumed = person.types("resume", "--model", person.script([MEND], [COMPLETE]), "--json")
    assert resumed.code == 0 and (resumed.json["steps"], resumed.json["tokens"]["calls"]) == (2, 2)


def test_show_tells_all_of_a_task(person: Person, done: str) -> None:
    plain, scripted = both(person, "show", done[:8])
    assert plain.code == 0 and person.check in plain.words and "afresh apply" in plain.out
    assert scripted.json["status"] == "done" and scripted.json["question"] == "" and scripted.json["changed"] == ["calc.py"]


def test_a_question_is_answered_and_the_words_stand_in_the_next_window(person: Person) -> None:
    ask = ("ask", {"question": "Multiply or shift?", "options": ["multiply", "shift"]})
    told = person.runs(person.script([ask], [MEND], [COMPLETE]))
    task = person.shown()["task"]["id"]
    assert told.code == 3 and "Multiply or shift?" in told.out and f"afresh answer {task[-8:]}" in told.out
    blocked = person.types("resume")
    assert blocked.code == 3 and "its question is still open" in blocked.err
    assert "asks: Multiply or shift?" in person.types("status").words
    words = 'Multiply — "as ever",  with\n\ttwo lines'
    assert person.types("answer", task, " ").code == 2
    assert person.types("answer", task, words).code == 0
    assert person.types("answer", task, words).code == 1, "it asks nothing now"
    assert person.types("resume").code == 0
    sections = {one["name"]: one["text"] for one in person.types("context", "show", "--step", "2", "--json").json["sections"]}
    assert (
        f"{NEWEST_MESSAGE_HEADING}\nAsked: Multiply or shift? Options: 1 multiply; 2 shift\nAnswer: {words}" in sections["task"]
    )
    log = [json.loads(line) for line in (person.state / f"decisions/{task}.jsonl").read_text().splitlines()]
    assert [(line["kind"], line["text"]) for line in log if line["kind"] in ("asked", "answered")] == [
        ("asked", "Multiply or shift?"),
        ("answered", words),
    ]


def test_an_answer_that_no_window_could_hold_is_refused(person: Person) -> None:
    person.runs(person.script([("ask", {"question": "Which?"})], [MEND], [COMPLETE]))
    task = person.shown()["task"]["id"]
    for text in ("word " * 16_000, "bad \udcff bytes"):
        told = person.types("answer", task, text)
        assert told.code == 2 and "fault in afresh" not in told.err
    assert person.shown()["status"] == "blocked"
    assert person.types("answer", task, "This one").code == 0 and person.types("resume").code == 0


def test_calls_are_shown_compared_and_rebuilt(person: Person, done: str) -> None:
    shown, data = both(person, "context", "show", done, "--step", "1")
    assert shown.code == 0 and "## Task (fix_bug)" in shown.out
    assert {"system", "tools", "task"} <= {section["name"] for section in data.json["sections"]}
    assert data.json["tokens"] + data.json["reserve"] <= data.json["budget"]
    compared, differing = both(person, "context", "diff", done, "1", "2")
    assert "+" in compared.out and {row["compared"] for row in differing.json["sections"]} >= {"unchanged", "changed"}
    verified, rows = both(person, "context", "verify", done)
    assert f"2 of 2 calls of {done} rebuilt byte for byte" in verified.out
    assert [row["same"] for row in rows.json] == [True, True]
    missing = person.types("context", "show", done, "--step", "9")
    assert missing.code == 2 and "it has steps 1 to 2" in missing.err


def flipped(body: bytes | str, place: int) -> bytes | str:
    """One byte, or one character, is another."""
    if isinstance(body, bytes):
        return body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :]
    return body[:place] + chr(ord(body[place]) ^ 1) + body[place + 1 :]


def change_a_block(database: sqlite3.Connection) -> None:
    (seq, blocks) = max(database.execute("SELECT seq, blocks FROM record WHERE blocks NOT NULL"), key=lambda row: len(row[1]))
    database.execute("UPDATE record SET blocks = ? WHERE seq = ?", (flipped(blocks, len(blocks) // 2), seq))


def change_an_entry(database: sqlite3.Connection) -> None:
    ((entries,),) = database.execute("SELECT entries FROM record WHERE seq = 1").fetchall()
    changed = flipped(entries, 20) if isinstance(entries, bytes) else entries.replace("double", "treble")
    database.execute("UPDATE record SET entries = ? WHERE seq = 1", (changed,))


def drop_an_entry(database: sqlite3.Connection) -> None:
    database.execute("DELETE FROM record WHERE seq = 3")


@pytest.mark.parametrize("harm", [change_a_block, change_an_entry, drop_an_entry], ids=lambda harm: harm.__name__)
def test_a_journal_that_was_tampered_with_is_not_believed(
    person: Person, done: str, harm: Callable[[sqlite3.Connection], None]
) -> None:
    database = sqlite3.connect(person.state / "afresh.db")
    with database:
        harm(database)
    database.close()
    plain, scripted = person.types("context", "verify", done), person.types("context", "verify", done, "--json")
    assert plain.code == scripted.code == 4 and "fault in afresh" not in plain.err
    assert scripted.error["kind"] == "Damaged" and scripted.error["next"] and scripted.error["safe"]
    if harm is not change_a_block:
        examined = person.types("doctor", "--json")
        assert examined.code == 4
        assert [done in check["detail"] for check in examined.json["checks"] if check["level"] == "fail"] == [True], "once"


def test_apply_moves_the_checkout_forward_and_clears_up(person: Person, done: str) -> None:
    applied = person.types("apply", done)
    assert applied.code == 0 and "fast-forward" in applied.out
    assert "x * 2" in (person.repo / "calc.py").read_text()
    message = person.git("log", "-1", "--format=%B")
    assert message.startswith("Multiply instead of adding") and f"Afresh-Task: {done}" in message
    assert not person.git("branch", "--list", "afresh/*") and not (person.trees / done).exists()
    again = person.types("apply", done)
    assert again.code == 1 and "is already applied" in again.err
    assert person.shown(done)["status"] == "applied"


def test_what_is_not_finished_can_not_be_applied(person: Person) -> None:
    told = person.types("apply", person.adds())
    assert told.code == 1 and "is ready and has changed nothing" in told.err


def test_discard_removes_the_work_and_keeps_the_journal(person: Person, done: str) -> None:
    before, commit = person.belongings(), person.shown(done)["commit"][:12]
    refused = person.types("discard", done)
    assert refused.code == 2 and "--yes" in refused.err and (person.trees / done).exists(), "nobody can be asked"
    assert f"git branch NAME {commit}" in person.types("discard", done, "--yes").out
    assert person.git("cat-file", "-t", commit) == "commit"
    assert not person.git("branch", "--list", "afresh/*") and not (person.trees / done).exists()
    assert person.types("context", "verify", done).code == 0
    assert person.types("discard", done).code == person.types("apply", done).code == 1
    assert person.belongings() == before
    assert person.types("discard", person.adds()).code == 0, "one that was never begun"


def test_failed_tasks_are_discarded_together_and_a_result_stays(person: Person, done: str) -> None:
    project = open_project(person.repo)
    failed, asked, ready = person.adds("first"), person.adds("second"), person.adds("third")
    end_task(project, failed, TaskStatus.FAILED, "no progress")
    end_task(project, asked, TaskStatus.DONE, "it is a parser")
    told = person.types("discard", "--failed", "--json")
    assert [row["task"] for row in told.json] == [failed, asked]
    assert [person.shown(task)["status"] for task in (done, ready)] == ["done", "ready"]
    assert "no task has ended without a result" in person.types("discard", "--failed").out
    assert person.types("discard", "--yes", done, ready).code == 0 and person.types("discard").code == 2


def test_undo_takes_back_a_finished_task_and_lets_it_go_on(person: Person, done: str) -> None:
    person.adds("waits in the queue")
    told = person.types("undo", "--why", "shift instead")
    assert told.code == 0 and f"undone in {done}: 1 change" in told.out, "not in the one that was never begun"
    assert person.shown(done)["status"] == "ready" and person.types("apply", done).code == 1
    shift = ("edit", {"path": "calc.py", "old": "x + 2", "new": "x << 1"})
    assert person.types("resume", done, "--model", person.script([], [], [shift], [COMPLETE], name="again")).code == 0
    assert person.types("apply").code == 0 and "x << 1" in (person.repo / "calc.py").read_text()
    assert "git revert" in person.types("undo", done).err


def test_doctor_says_what_holds(person: Person, done: str) -> None:
    plain, scripted = both(person, "doctor")
    checks = {check["name"]: check for check in scripted.json["checks"]}
    assert scripted.code == 0 and scripted.json["ok"] and "all hashes match" in plain.out
    if "escape attempts were blocked" in checks["sandbox"]["detail"]:
        assert checks["sandbox"]["level"] == "ok" and not checks["sandbox"]["remedy"]
    remedies = [check["remedy"] for check in checks.values() if check["remedy"]]
    assert len(remedies) == len({*remedies}), "nothing is advised twice"
    assert checks["models"]["level"] == "warn" and checks["models"]["remedy"] == "afresh setup"


def test_rebuild_makes_all_views_again_to_the_byte(person: Person, done: str) -> None:
    person.adds("another one")
    person.runs(person.script([("ask", {"question": "Which?"})], name="ask"), goal="ask me")

    def view_files() -> dict[str, bytes]:
        files = [path for name in folders for path in (person.state / name).rglob("*") if path.is_file()]
        return {str(path): path.read_bytes() for path in (*files, *(person.state / name for name in whole))}

    folders, whole = ("sessions", "decisions", "tasks", "context"), ("continuity.json", "history.jsonl", "project_memory.json")
    before = view_files()
    assert len(before) > 12
    for name in folders:
        shutil.rmtree(person.state / name)
    for name in whole:
        (person.state / name).unlink()
    assert person.types("doctor", "--rebuild").code == 0
    assert view_files() == before


UNKNOWN = [("show",), ("resume",), ("answer", "words"), ("apply",), ("discard",), ("context", "show"), ("context", "verify")]


def test_an_unknown_task_is_named_and_where_to_look_is_told(person: Person) -> None:
    person.adds()
    for command in UNKNOWN:
        words, more = (command[:1], command[1:]) if command[0] == "answer" else (command, ())
        told = person.types(*words, "nobody", *more)
        assert told.code == 2 and "no such task: nobody" in told.err and "afresh status --all" in told.err


def test_no_model_at_all_is_told_before_a_task_exists_and_keeps_one_of_the_queue(person: Person) -> None:
    told = person.types("run", "x", "--check", CHECK, "--json")
    assert told.code == 4 and told.error["what"] == "no model is set" and "afresh setup" in told.error["next"]
    assert told.error["safe"] == "no task was created" and person.types("status", "--json").json["tasks"] == []
    task = person.adds("x")
    told = person.types("work", "--json")
    assert told.code == 4 and f"afresh resume {task}" in told.error["next"] and person.shown(task)["status"] == "ready"


def test_a_task_of_the_queue_can_be_worked_on_from_any_folder(person: Person) -> None:
    script = Path(person.script([MEND], [COMPLETE]).removeprefix("scripted:"))
    person.adds("mend double", "--model", f"scripted:../{script.name}")
    person.write("deep/folder/keep.txt", "")
    assert person.types("work", at="deep/folder").code == 0
