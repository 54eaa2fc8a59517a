"""A process that is killed anywhere, and many that write and checkpoint at once, leave a sound file."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from afresh.core.reducer import fold_entries
from afresh.errors import BadInput
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sqlite import database
from afresh.storage.sqlite.database import Database
from afresh.storage.sqlite.storage import open_sqlite_journal
from support.sample_journals import append_step, create_task

WRITER = """
import sys
from pathlib import Path
from afresh.storage.sqlite.database import Database
from afresh.storage.sql.journal import SqlJournal
from support.sample_journals import append_step, create_task
store = SqlJournal(Database(Path(sys.argv[1]), checkpoint_bytes=1))
state = create_task(store, sys.argv[2])
for _ in range(25):
    state = append_step(store, state)
"""


def python(script: str, *arguments: object) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)], env=environment, stdout=subprocess.PIPE, text=True
    )


def sound(path: Path) -> bool:
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        connection.close()


class Mortal(sqlite3.Connection):
    """Kills its process before the nth statement, which is after the one before it."""

    left = 0

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
        Mortal.left -= 1
        if Mortal.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(sql, *values)


def killed_at(point: int, path: Path) -> tuple[int, bool]:
    """Work in a child that dies there: how many steps it had acknowledged, and whether it came to the end."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        connect, Mortal.left = sqlite3.connect, point
        sqlite3.connect = lambda *given, **named: connect(*given, **named, factory=Mortal)
        store = SqlJournal(Database(path, checkpoint_bytes=60_000))
        state = create_task(store)
        append_step(store, state)
        os.write(tell, b".")
        os._exit(0)
    os.close(tell)
    status = os.waitpid(child, 0)[1]
    with os.fdopen(told, "rb") as pipe:
        return len(pipe.read()), status == 0


@pytest.mark.promise("crash, power loss, full disk, flipped bits")
def test_a_kill_between_any_two_statements_loses_nothing_acknowledged(tmp_path: Path) -> None:
    finished, point = False, 0
    while not finished:
        path = tmp_path / f"{point}.db"
        acknowledged, finished = killed_at(point, path)
        if path.exists():
            assert sound(path)
            assert kept_steps(path) >= acknowledged
        point += 1
    assert point > 30


def kept_steps(path: Path) -> int:
    store = open_sqlite_journal(path)
    try:
        state = store.load("one")
    except BadInput:
        return 0
    assert fold_entries(None, store.journal("one")) == state
    store.close()
    return state.work.step


def test_processes_that_write_and_checkpoint_at_once_leave_a_sound_file(tmp_path: Path) -> None:
    path = tmp_path / "afresh.db"
    writers = [python(WRITER, path, name) for name in "abcd"]
    assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
    assert sound(path)
    store = open_sqlite_journal(path)
    for name in "abcd":
        assert store.load(name) == fold_entries(None, store.journal(name))
        assert store.load(name).work.step == 25


def test_no_other_connection_can_commit_while_a_checkpoint_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log-restart race of SQLite before 3.51.3 needs a commit during a checkpoint."""
    path, attempts = tmp_path / "afresh.db", list[str]()

    class Watched(sqlite3.Connection):
        def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
            if "wal_checkpoint" in sql:
                attempts.append(attempt(path))
            return super().execute(sql, *values)

    connect = sqlite3.connect
    monkeypatch.setattr(database.sqlite3, "connect", lambda *given, **named: connect(*given, **{"factory": Watched, **named}))
    store = SqlJournal(Database(path, checkpoint_bytes=1))
    append_step(store, create_task(store))
    assert len(attempts) >= 3 and set(attempts) == {"database is locked"}
    assert attempt(path) == "committed"


def attempt(path: Path) -> str:
    other = sqlite3.Connection(path, timeout=0, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        other.execute("COMMIT")
        return "committed"
    except sqlite3.OperationalError as refused:
        return str(refused)
    finally:
        other.close()


def test_no_connection_checkpoints_by_itself(tmp_path: Path) -> None:
    with Database(tmp_path / "afresh.db").writing() as connection:
        assert connection.execute("PRAGMA wal_autocheckpoint").fetchone() == (0,)


def test_the_log_stays_short(tmp_path: Path) -> None:
    path = tmp_path / "afresh.db"
    store = SqlJournal(Database(path, checkpoint_bytes=200_000))
    state = create_task(store)
    for _ in range(60):
        state = append_step(store, state)
    assert path.with_name("afresh.db-wal").stat().st_size < 1_000_000


def test_a_long_log_left_by_others_is_swept_by_the_next_writer(tmp_path: Path) -> None:
    path = tmp_path / "afresh.db"
    first = SqlJournal(Database(path, checkpoint_bytes=1 << 30))
    state = create_task(first)
    for _ in range(30):
        state = append_step(first, state)
    small = path.stat().st_size
    SqlJournal(Database(path, checkpoint_bytes=1_000)).load("one")
    assert path.stat().st_size == small, "who only reads leaves it"
    with Database(path, checkpoint_bytes=1_000).writing():
        assert path.stat().st_size > small
    assert append_step(first, state).work.step == 31
