"""The file: what is refused, what is left alone, and what a failing disk does."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from afresh.core import event as happened
from afresh.errors import BadInput, Broken, Damaged, NeedsPerson
from afresh.storage.sql.format import STORE_FORMAT
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.schema import FACTS_SCHEMA, JOURNAL_SCHEMA
from afresh.storage.sqlite.database import Database, create_tables
from afresh.storage.sqlite.storage import open_sqlite_journal
from support.sample_journals import append_events, append_step, create_task, make_block


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "afresh.db"


def contents(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir() if not file.name.endswith("-shm")}


def pragma(path: Path, name: str) -> object:
    with Database(path).writing() as connection:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]


def test_a_commit_is_synced_to_the_disk(path: Path) -> None:
    assert pragma(path, "journal_mode") == "wal"
    assert pragma(path, "synchronous") == 2
    assert pragma(path, "foreign_keys") == 1
    assert pragma(path, "application_id") == JOURNAL_SCHEMA.application
    assert pragma(path, "user_version") == STORE_FORMAT


def test_only_its_owner_can_read_a_new_file(path: Path) -> None:
    create_task(open_sqlite_journal(path))
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("in_the_log", [False, True])
def test_a_newer_schema_is_refused_and_left_untouched(path: Path, in_the_log: bool) -> None:
    store = open_sqlite_journal(path)
    create_task(store)
    store.close()
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 999")
    before = contents(path)
    if in_the_log:
        assert before["afresh.db-wal"], "the version is only in the log so far"
        away = path.parent / "crashed"
        away.mkdir()
        for name, data in before.items():
            (away / name).write_bytes(data)
        path = away / path.name
    newer.close()
    before = contents(path)
    with pytest.raises(Damaged, match=r"newer afresh .*999"):
        open_sqlite_journal(path).load("one")
    after = contents(path)
    assert {name: data for name, data in after.items() if data} == {name: data for name, data in before.items() if data}


@pytest.mark.parametrize("content", [b"x", b"no database at all, but a letter" * 200, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_refused_and_left_untouched(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(Damaged):
        open_sqlite_journal(path).load("one")
    assert contents(path) == {"afresh.db": content}


def test_a_database_of_another_program_is_refused_and_left_untouched(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE bookmarks (url)")
    other.close()
    before = contents(path)
    with pytest.raises(Damaged, match="another program"):
        create_task(open_sqlite_journal(path))
    assert contents(path) == before


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_a_symbolic_link_is_not_followed(path: Path, tmp_path: Path, suffix: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    path.with_name(path.name + suffix).symlink_to(elsewhere)
    with pytest.raises(BadInput, match="symbolic link"):
        create_task(open_sqlite_journal(path))
    assert not elsewhere.exists()


@pytest.mark.parametrize("link", [".afresh", ".afresh/state"])
def test_a_database_behind_a_linked_folder_is_refused(tmp_path: Path, link: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "repository" / link).parent.mkdir(parents=True)
    (tmp_path / "repository" / link).symlink_to(elsewhere)
    with pytest.raises(BadInput, match="symbolic link"):
        create_task(open_sqlite_journal(tmp_path / "repository" / link / "afresh.db"))
    assert list(elsewhere.iterdir()) == []


def test_a_file_whose_tables_another_process_makes_meanwhile_is_ours(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect
    with closing(connect(path)) as begun:
        begun.execute("PRAGMA journal_mode = WAL")

    class Overtaken(sqlite3.Connection):
        def execute(self, text: str, *more: object) -> sqlite3.Cursor:
            rows = super().execute(text, *more)  # type: ignore[arg-type]
            if text == "PRAGMA application_id":
                monkeypatch.setattr(sqlite3, "connect", connect)
                with closing(connect(path, isolation_level=None)) as other:
                    create_tables(other, JOURNAL_SCHEMA)
            return rows

    monkeypatch.setattr(sqlite3, "connect", lambda *given, **named: connect(*given, **{**named, "factory": Overtaken}))
    assert pragma(path, "user_version") == STORE_FORMAT


def test_tables_whose_making_fails_leave_nothing(path: Path) -> None:
    with pytest.raises(Broken, match="syntax error"):
        SqlJournal(Database(path, schema=replace(JOURNAL_SCHEMA, text=JOURNAL_SCHEMA.text + "CREATE NONSENSE;"))).heads()
    assert create_task(open_sqlite_journal(path)) == open_sqlite_journal(path).load("one")


def test_an_older_format_is_refused_and_what_can_be_made_again_is(path: Path) -> None:
    state = create_task(open_sqlite_journal(path))
    facts = path.with_name("memory.db")
    with Database(facts, schema=FACTS_SCHEMA).writing() as connection:
        connection.execute("INSERT INTO seen VALUES ('one', 1, '')")
    for file in (path, facts):
        with closing(sqlite3.connect(file)) as older:
            older.execute("PRAGMA user_version = 3")
    with pytest.raises(Damaged, match=r"an older afresh \(format 3, this one reads") as told:
        open_sqlite_journal(path).load("one")
    assert f"mv {path}" in told.value.next and told.value.safe.startswith("nothing was changed")
    with Database(facts, schema=FACTS_SCHEMA).reading() as connection:
        assert connection.execute("SELECT count(*) FROM seen").fetchone() == (0,)
    with closing(sqlite3.connect(path)) as older:
        older.execute(f"PRAGMA user_version = {STORE_FORMAT}")
    assert open_sqlite_journal(path).load("one") == state


def test_a_full_disk_is_told_and_loses_nothing(path: Path) -> None:
    base = Database(path)
    store = SqlJournal(base)
    state = create_task(store)
    with base.reading() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 3}")
    with pytest.raises(NeedsPerson, match="no room left") as told:
        append_events(store, state, [happened.TaskClaimed("worker")], [make_block(os.urandom(50_000).hex())])
    assert told.value.next and told.value.safe
    assert store.load("one") == state
    with base.reading() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    assert append_step(store, state).work.step == 1


def test_a_full_file_system_is_told_and_loses_nothing(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "none", str(small)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("a small file system can be mounted only by root, outside a container")
    try:
        store = open_sqlite_journal(small / "afresh.db")
        state = create_task(store)
        with pytest.raises(NeedsPerson, match=r"no room left|disk failed"):
            while True:
                state = append_events(store, state, [happened.TaskClaimed("worker")], [make_block(os.urandom(20_000).hex())])
        store.close()
        assert open_sqlite_journal(small / "afresh.db").load("one") == state
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


FAILING = """
import resource, signal, sys
from pathlib import Path
from afresh.storage.sqlite.storage import open_sqlite_journal
from afresh.errors import NeedsPerson
from support.sample_journals import append_step, create_task
store = open_sqlite_journal(Path(sys.argv[1]))
state = append_step(store, create_task(store))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
for attempt in range(2):
    try:
        append_step(store, state)
    except NeedsPerson as told:
        print("told:", told.what)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


def test_after_a_failed_write_this_process_writes_no_more(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FAILING, path], capture_output=True, text=True, env=environment())
    assert done.stdout.count("told: the disk failed") == 2, done
    assert open_sqlite_journal(path).load("one").work.step == 1


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
