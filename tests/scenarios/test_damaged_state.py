"""State that was lost or damaged is noticed by the command that would have believed it, and brought back where it can be."""

import os
import shutil
import sqlite3
import subprocess
import sys

import pytest
from lived_once import live_once, one_folder, tmp_path  # noqa: F401
from person import COMPLETE, MEND, SOURCE, Person

from afresh.app.project import open_project
from afresh.storage.renew_lease import identify_worker

DEAD_PROCESS = 2**22 + 1
"""Above the greatest number of a process."""


@pytest.fixture
def done(person: Person) -> str:
    """A task that is verified and waits to be applied."""

    def work() -> None:
        assert person.runs(person.script([MEND], [COMPLETE]), "--no-sandbox").code == 0

    return live_once(person, work)


def flip(person: Person, task: str, entry: int = 2) -> None:
    """Change one character of a journal entry, as a bad disk does."""
    with sqlite3.connect(person.state / "afresh.db") as database:
        (number,) = database.execute("SELECT number FROM task WHERE id = ?", (task,)).fetchone()
        seq, bodies = database.execute(
            "SELECT seq, entries FROM record WHERE task = ? AND seq <= ? ORDER BY seq DESC LIMIT 1", (number, entry)
        ).fetchone()
        kept = bodies.replace('"', "'", 1) if isinstance(bodies, str) else bodies[:-9] + bytes([bodies[-9] ^ 4]) + bodies[-8:]
        database.execute("UPDATE record SET entries = ? WHERE task = ? AND seq = ?", (kept, number, seq))
    database.close()


def areas(person: Person, *more: str) -> dict[str, int]:
    told = person.types("doctor", "--deep", *more, "--json")
    return {area["name"]: len(area["problems"]) for area in told.json["areas"] if area["problems"]}


@pytest.mark.promise("crash, power loss, full disk, flipped bits")
def test_a_flipped_bit_is_not_merged(person: Person, done: str):
    before = person.belongings()
    flip(person, done)
    told = person.types("apply", done)
    assert told.code == 4 and f"task {done}: journal entry" in told.words and "afresh doctor --repair" in told.words
    assert person.belongings() == before
    shown = person.types("show", done)
    assert shown.code == 4 and f"task {done}: journal entry" in shown.words


def test_status_names_the_task_whose_newest_entries_are_damaged(person: Person, done: str):
    whole = person.types("status")
    assert whole.code == 0 and "Damaged" not in whole.words
    flip(person, done, entry=1_000)
    told = person.types("status")
    assert told.code == 4 and f"Damaged: task {done}: journal entry" in told.words and done in told.words.split("Damaged", 1)[1]
    assert done in person.types("status", "--json").json["damage"]


def test_repair_restores_a_damaged_task_from_the_export_and_keeps_the_old_database(person: Person, done: str):
    other = person.adds("another goal")
    assert person.types("export").code == 0
    third = person.adds("a third goal")
    whole = {task: open_project(person.repo).store.load(task) for task in (done, other, third)}
    flip(person, done)
    assert areas(person) == {"journals": 1}
    told = person.types("doctor", "--repair", "--json")
    assert told.code == 0 and told.json["problems"] == 0, told.out
    assert {task: open_project(person.repo).store.load(task) for task in whole} == whole
    assert (person.state / "afresh.db.damaged-1").exists() and not (person.state / "fsck.new").exists()
    assert person.types("apply", done).code == 0 and "x * 2" in (person.repo / "calc.py").read_text()


def test_without_an_export_the_damaged_task_stays_as_it_is_and_the_way_back_is_named(person: Person, done: str):
    flip(person, done)
    shutil.rmtree(person.state / "export")
    told = person.types("doctor", "--deep")
    assert told.code == 1 and "restore the database from a backup" in told.words and "only you can repair" in told.words
    person.types("doctor", "--repair")
    assert not (person.state / "afresh.db.damaged-1").exists() and "journal entry" in person.types("show", done).words


READ_ONLY = r"""
import contextlib, io, subprocess, sys
from afresh.cli.main import run_command_line
state, *commands = sys.argv[1:]
subprocess.run(["mount", "--bind", state, state], check=True)
subprocess.run(["mount", "-o", "remount,bind,ro", state], check=True)
for command in commands:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = run_command_line(command.split())
    print("##", code, " ".join(said.getvalue().split()))
"""


def in_read_only_state(person: Person, *commands: str) -> list[tuple[int, str]]:
    """What the commands say in a mount namespace of their own, where the state folder is read-only."""
    unshare = ["unshare", "--map-root-user", "--mount", sys.executable, "-c", READ_ONLY, str(person.state), *commands]
    environment = {**os.environ, "PYTHONPATH": SOURCE, "COLUMNS": "200"}
    ran = subprocess.run(unshare, cwd=person.repo, env=environment, capture_output=True, text=True)
    if ran.returncode:
        pytest.skip(f"no mount namespace can be made here: {ran.stderr.strip()[-120:]}")
    return [(int(line.split()[1]), line.split(maxsplit=2)[2]) for line in ran.stdout.splitlines() if line.startswith("##")]


def test_a_read_only_state_folder_is_read_and_named_as_the_cause(person: Person, done: str):
    open_project(person.repo).storage.close()
    reading = ("status", "status --all", f"show {done}", f"diff {done}", f"context show {done}", "export ../copy")
    *read, (code, said), (rebuilt, why) = in_read_only_state(person, *reading, "add goal --no-check", "doctor --rebuild")
    assert [(command, answer) for command, answer in zip(reading, read, strict=True) if answer[0]] == []
    assert done[-8:] in read[0][1] and "x * 2" in read[3][1]
    assert code == 4 and "mounted read-only" in said and "still work" in said
    assert rebuilt == 4 and "ead-only" in why
    assert person.types("status").code == 0


def test_fsck_finds_and_repairs_everything_that_is_derived(person: Person, done: str):
    assert areas(person) == {}
    (person.state / "continuity.json").write_text("{}")
    (person.state / "tasks" / f"{done}.json").unlink()
    spare = person.state / "tasks" / f".{done}.json.{DEAD_PROCESS}"
    spare.write_text("half")
    (person.state / f"checkout-{DEAD_PROCESS}.git").mkdir()
    (person.state / "export" / f".copied.json.{DEAD_PROCESS}").write_text("half")
    with sqlite3.connect(person.state / "memory.db") as index:
        index.execute("DELETE FROM fact WHERE number = 1")
    index.close()
    with sqlite3.connect(person.state / "afresh.db") as database:
        database.execute("UPDATE ticket SET outcome = 'all is well'")
    database.close()
    found = areas(person)
    assert found == {"tickets": 1, "views": 2, "facts": 1, "leftovers": 3}, found
    assert (person.state / "continuity.json").read_text() == "{}", "without --repair nothing is changed"
    told = person.types("doctor", "--repair")
    assert told.code == 0 and "Everything that is stored is whole." in told.words, told.words
    assert not spare.exists() and person.types("show", done).code == 0


def test_fsck_names_snapshots_branches_and_worktrees_that_are_gone(person: Person, done: str):
    person.git("update-ref", "-d", f"refs/heads/afresh/{done}")
    told = person.types("doctor", "--deep")
    assert told.code == 1 and f"its branch afresh/{done} is gone" in told.words


def test_repair_is_refused_while_a_worker_runs(person: Person, done: str):
    waiting = person.adds("another goal")
    spare = person.state / "tasks" / f".{done}.json.{DEAD_PROCESS}"
    spare.write_text("half")
    open_project(person.repo).queue.claim(identify_worker(os.getppid()), waiting)
    told = person.types("doctor", "--repair")
    assert told.code == 1 and "is working on a task" in told.words and spare.exists()


def test_the_next_start_clears_what_killed_writers_have_left(person: Person, done: str):
    left = [
        person.state / "tasks" / f".{done}.json.{DEAD_PROCESS}",
        person.state / "checkpoints" / done / f".000001.md.{DEAD_PROCESS}",
        person.state / f".continuity.json.{DEAD_PROCESS}",
    ]
    for path in left:
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("half")
    living = person.state / "tasks" / f".{done}.json.{os.getpid()}"
    living.write_text("being written")
    person.adds("another goal")
    assert [path for path in left if path.exists()] == [] and living.exists()
