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
from afresh.core.state import make_ticket_detail
from afresh.core.task import TaskStatus, TicketQuery
from afresh.errors import BadInput, Damaged, NeedsPerson
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.queue import SqlQueue
from afresh.storage.sqlite.database import Database
from afresh.storage.sqlite.migrations import JOURNAL_SCHEMA
from afresh.storage.sqlite.storage import open_sqlite_journal
from afresh.testing.fakes import FakeClock
from afresh.testing.sample_journals import append_events, append_step, create_task, end_task, make_block


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "afresh.db"


def contents(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir() if not file.name.endswith("-shm")}


def pragma(path: Path, name: str) -> object:
    with Database(path).reading() as connection:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]


def test_a_commit_is_synced_to_the_disk(path: Path) -> None:
    assert pragma(path, "journal_mode") == "wal"
    assert pragma(path, "synchronous") == 2
    assert pragma(path, "foreign_keys") == 1
    assert pragma(path, "application_id") == JOURNAL_SCHEMA.application
    assert pragma(path, "user_version") == len(JOURNAL_SCHEMA.migrations)


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


def test_a_migration_that_fails_leaves_the_old_schema(path: Path) -> None:
    state = create_task(open_sqlite_journal(path))

    def half(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE half (done)")
        raise OSError("the power went")

    with pytest.raises(OSError, match="power"):
        SqlJournal(Database(path, schema=replace(JOURNAL_SCHEMA, migrations=(*JOURNAL_SCHEMA.migrations, half)))).load("one")
    assert open_sqlite_journal(path).load("one") == state
    with Database(path).reading() as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'half'").fetchone() == (0,)


def make_older(path: Path) -> None:
    """The file as it was after the first three migrations."""
    with closing(sqlite3.connect(path)) as older:
        new = "SELECT type, name FROM sqlite_schema WHERE type = 'trigger' OR (type = 'index' AND sql IS NOT NULL)"
        for kind, name in older.execute(new + " AND name != 'ticket_status'").fetchall():
            older.execute(f"DROP {kind} {name}")
        details = ("step", "step_limit", "updated", "question", "options", "ruling", "outcome", "follows")
        marks = ("marks", "held", "retry_at", "due", "project", "contexts", "resumes", "resumed")
        for column in (*details, *marks, "turn", "priority", "change"):
            older.execute(f"ALTER TABLE ticket DROP COLUMN {column}")
        for table in ("lease", "note", "part", "need", "ticket_count", "label", "identity"):
            older.execute(f"DROP TABLE {table}")
        older.execute("PRAGMA user_version = 3")


def test_an_older_schema_is_brought_up_to_date(path: Path) -> None:
    state = create_task(open_sqlite_journal(path))
    make_older(path)
    assert open_sqlite_journal(path).load("one") == state
    assert pragma(path, "user_version") == len(JOURNAL_SCHEMA.migrations)


def test_tickets_of_an_older_schema_get_their_details_from_snapshots(path: Path) -> None:
    store = open_sqlite_journal(path)
    asked = append_events(
        store, append_step(store, create_task(store, "asks")), [happened.QuestionAsked("which?", ("this", "that"))]
    )
    asked = end_task(store, asked, TaskStatus.BLOCKED)
    fresh = create_task(store, "fresh")
    append_step(store, append_events(store, create_task(store, "at work"), [happened.TaskClaimed("a")]))
    store.close()
    make_older(path)
    details = {ticket.task: ticket.detail for ticket in SqlQueue(Database(path), FakeClock()).tickets()}
    assert details == {"asks": make_ticket_detail(asked), "fresh": make_ticket_detail(fresh), "at work": None}
    append_step(open_sqlite_journal(path), open_sqlite_journal(path).load("at work"))
    (ticket,) = SqlQueue(Database(path), FakeClock()).tickets(TicketQuery(prefix="at work"))
    assert ticket.detail == make_ticket_detail(open_sqlite_journal(path).load("at work"))


def test_the_queue_of_an_older_schema_keeps_its_order_and_counts(path: Path) -> None:
    store = open_sqlite_journal(path)
    create_task(store, "late", needs=("first",), priority=9)
    for task, priority in (("first", 0), ("urgent", 2)):
        create_task(store, task, priority=priority)
    store.close()
    make_older(path)
    queue = SqlQueue(Database(path), FakeClock())
    assert dict(queue.counts().by_status) == {TaskStatus.READY: 3}
    assert [queue.claim("a"), queue.claim("a"), queue.claim("a")] == ["urgent", "first", None]
    end_task(open_sqlite_journal(path), open_sqlite_journal(path).load("first"), TaskStatus.DONE)
    assert queue.claim("a") == "late"


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
from afresh.testing.sample_journals import append_step, create_task
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
