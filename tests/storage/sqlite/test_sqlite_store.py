"""What is stored is believed only when it fits, and what can be made again is made again."""

import os
import sqlite3
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from afresh.core import event as happened
from afresh.core.archived_block import block_id_from_text
from afresh.core.event import JournalHead
from afresh.core.state import State
from afresh.core.states import ceiling_state
from afresh.core.task import TaskStatus
from afresh.errors import BadInput, Conflict, Damaged
from afresh.storage.sql import journal as journal_module
from afresh.storage.sql import state_snapshot as snapshot
from afresh.storage.sql.journal import SNAPSHOT_INTERVAL_ENTRIES, SqlJournal
from afresh.storage.sqlite.database import Database
from afresh.storage.sqlite.storage import open_sqlite_journal
from support.sample_journals import append_events, append_step, create_task, end_task, make_block, make_call_events

STEPS = SNAPSHOT_INTERVAL_ENTRIES // 6 + 5


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "afresh.db"


@pytest.fixture
def worked(path: Path) -> State:
    """A task of some steps, with a snapshot in the midst of its journal."""
    store = open_sqlite_journal(path)
    state = append_events(store, create_task(store), [happened.TaskClaimed("worker")])
    for _ in range(STEPS):
        state = append_step(store, state)
    store.close()
    return state


def tamper(path: Path, sql: str, *values: object) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    assert connection.execute(sql, values).rowcount > 0
    connection.close()


def only(path: Path, sql: str) -> object:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql).fetchone()[0]
    finally:
        connection.close()


def test_loading_does_not_read_what_the_snapshot_covers(path: Path, worked: State) -> None:
    taken = only(path, "SELECT seq FROM snapshot")
    assert isinstance(taken, int) and 1 < taken < worked.head.seq
    tamper(path, "DELETE FROM record WHERE seq < ?", taken)
    assert open_sqlite_journal(path).load("one") == worked


def test_the_tail_after_a_snapshot_stays_short(path: Path) -> None:
    store = open_sqlite_journal(path)
    state = create_task(store)
    for _ in range(3 * SNAPSHOT_INTERVAL_ENTRIES):
        state = append_events(
            store, state, [happened.TaskClaimed("worker"), happened.TaskClaimed("worker"), happened.TaskClaimed("worker")]
        )
        assert state.head.seq - int(str(only(path, "SELECT seq FROM snapshot"))) < SNAPSHOT_INTERVAL_ENTRIES


@pytest.mark.parametrize("at", range(0, 100, 9))
def test_a_damaged_snapshot_is_made_again_from_the_journal(path: Path, worked: State, at: int) -> None:
    body = only(path, "SELECT body FROM snapshot")
    assert isinstance(body, bytes)
    place = len(body) * at // 100
    tamper(path, "UPDATE snapshot SET body = ?", body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :])
    assert open_sqlite_journal(path).load("one") == worked
    tamper(path, "UPDATE snapshot SET body = ?", body[:place])
    assert open_sqlite_journal(path).load("one") == worked


@pytest.mark.parametrize("sql", ["DELETE FROM snapshot", "UPDATE snapshot SET seq = 5", "UPDATE snapshot SET body = '{}'"])
def test_a_snapshot_that_does_not_fit_is_made_again(path: Path, worked: State, sql: str) -> None:
    tamper(path, sql)
    assert open_sqlite_journal(path).load("one") == worked


def test_a_snapshot_of_another_past_is_not_believed(path: Path, worked: State) -> None:
    other = replace(worked, work=replace(worked.work, outcome="never happened"))
    for head in (
        JournalHead(worked.head.seq - 3, "0" * 64),
        JournalHead(worked.head.seq, "0" * 64),
        JournalHead(worked.head.seq + 5, worked.head.hash),
    ):
        tamper(path, "UPDATE snapshot SET body = ?", snapshot.encode_state(replace(other, head=head)))
        assert open_sqlite_journal(path).load("one") == worked


def test_an_old_snapshot_is_folded_on(path: Path, worked: State) -> None:
    body, seq = only(path, "SELECT body FROM snapshot"), only(path, "SELECT seq FROM snapshot")
    store = open_sqlite_journal(path)
    for _ in range(STEPS):
        worked = append_step(store, worked)
    store.close()
    tamper(path, "UPDATE snapshot SET body = ?, seq = ?", body, seq)
    assert open_sqlite_journal(path).load("one") == worked


def test_a_task_at_rest_is_its_snapshot(path: Path, worked: State) -> None:
    state = end_task(open_sqlite_journal(path), worked, TaskStatus.DONE)
    assert only(path, "SELECT seq FROM snapshot") == state.head.seq


def test_a_changed_entry_is_found_out(path: Path, worked: State) -> None:
    tamper(path, "UPDATE record SET entries = replace(entries, 'thought 1', 'thought 3') WHERE seq = 3")
    with pytest.raises(Damaged, match="does not match its hash"):
        list(open_sqlite_journal(path).journal("one"))
    assert open_sqlite_journal(path).load("one") == worked, "the snapshot covers it"


def test_a_missing_entry_is_found_out(path: Path, worked: State) -> None:
    tamper(path, "DELETE FROM record WHERE seq = (SELECT seq FROM record WHERE seq > 6 LIMIT 1)")
    with pytest.raises(Damaged):
        list(open_sqlite_journal(path).journal("one"))


@pytest.mark.parametrize("records", [1, 3])
def test_a_journal_cut_short_is_found_out(path: Path, worked: State, records: int) -> None:
    tamper(path, "DELETE FROM record WHERE seq IN (SELECT seq FROM record ORDER BY seq DESC LIMIT ?)", records)
    for reading in (lambda: open_sqlite_journal(path).load("one"), lambda: list(open_sqlite_journal(path).journal("one"))):
        with pytest.raises(Damaged, match="ends at entry"):
            reading()


def test_a_long_entry_is_compressed_and_its_damage_found(path: Path) -> None:
    store = open_sqlite_journal(path)
    state = append_events(store, create_task(store), [happened.QuestionAnswered("many words " * 2_000)])
    body = only(path, "SELECT entries FROM record WHERE seq = 2")
    assert isinstance(body, bytes) and len(body) < 1_000
    assert list(store.journal("one"))[-1].event == happened.QuestionAnswered("many words " * 2_000)
    store.close()
    tamper(path, "UPDATE record SET entries = ? WHERE seq = 2", body[:-3])
    with pytest.raises(Damaged, match="can't be read"):
        list(open_sqlite_journal(path).journal("one"))
    assert state.dialogue.words


@pytest.mark.parametrize("texts", [("tiny", "much longer text " * 50), ("tiny", "much longer text " * 5_000)])
@pytest.mark.parametrize("sql", ["blocks = substr(blocks, 1, 4)", "blocks = NULL", "blocks = '4 x' || char(10) || 'tiny'"])
def test_a_damaged_block_is_not_believed(path: Path, texts: tuple[str, ...], sql: str) -> None:
    store = open_sqlite_journal(path)
    state = append_events(store, create_task(store), [happened.TaskClaimed("worker")], [make_block(text) for text in texts])
    assert [store.read(block_id_from_text(text)) for text in texts] == list(texts)
    store.close()
    tamper(path, f"UPDATE record SET {sql} WHERE seq = 2")
    with pytest.raises(Damaged, match="no longer matches its hash"):
        open_sqlite_journal(path).read(block_id_from_text(texts[1]))
    assert open_sqlite_journal(path).load("one") == state, "the journal does not need it"


def test_a_changed_block_is_not_believed_and_its_neighbour_is(path: Path) -> None:
    store = open_sqlite_journal(path)
    append_events(store, create_task(store), [happened.TaskClaimed("worker")], [make_block("one text"), make_block("other text")])
    store.close()
    tamper(path, "UPDATE record SET blocks = replace(blocks, 'other', 'OTHER')")
    with pytest.raises(Damaged, match="no longer matches its hash"):
        open_sqlite_journal(path).read(block_id_from_text("other text"))
    assert open_sqlite_journal(path).read(block_id_from_text("one text")) == "one text"


def test_an_unchanged_block_is_stored_once_and_small(path: Path) -> None:
    text = "the same section " * 1_000
    state = create_task(open_sqlite_journal(path))
    for _ in range(5):
        store = open_sqlite_journal(path)
        for _ in range(2):
            state = append_events(store, state, [happened.TaskClaimed("worker")], [make_block(text), make_block(text)])
        store.close()
    assert only(path, "SELECT count(*) FROM block") == only(path, "SELECT count(blocks) FROM record") == 1
    assert int(str(only(path, "SELECT sum(length(blocks)) FROM record"))) < 500


def test_a_block_of_a_commit_that_failed_is_not_taken_for_kept(path: Path) -> None:
    store = open_sqlite_journal(path)
    old = create_task(store)
    new = append_events(store, old, [happened.TaskClaimed("worker")])
    with pytest.raises(Conflict):
        append_events(store, old, [happened.TaskClaimed("late")], [make_block("precious")])
    append_events(store, new, [happened.TaskClaimed("worker")], [make_block("precious")])
    assert open_sqlite_journal(path).read(block_id_from_text("precious")) == "precious"


def test_two_blocks_with_one_prefix_need_a_longer_name(path: Path) -> None:
    store = open_sqlite_journal(path)
    append_events(store, create_task(store), [happened.TaskClaimed("worker")], [make_block("alpha"), make_block("beta")])
    store.close()
    name, other = block_id_from_text("alpha"), bytes.fromhex(block_id_from_text("beta"))
    tamper(path, "UPDATE block SET id = ? WHERE id = ?", bytes.fromhex(name[:8] + "0" * 24), other)
    store = open_sqlite_journal(path)
    with pytest.raises(KeyError):
        store.read(name[:8])
    assert store.read(name[:12]) == "alpha"


def test_threads_share_a_store(path: Path) -> None:
    store = SqlJournal(Database(path, checkpoint_bytes=100_000))
    names = ["a", "b", "c", "d"]

    def work(name: str) -> None:
        state = create_task(store, name)
        for _ in range(5):
            state = append_step(store, state)

    threads = [Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [store.load(name).work.step for name in names] == [5, 5, 5, 5]


def test_a_forked_child_opens_the_file_for_itself(path: Path) -> None:
    database = Database(path)
    store = SqlJournal(database)
    state = create_task(store)
    with database.reading() as parents:
        pass
    child = os.fork()
    if child == 0:
        try:
            append_step(store, store.load("one"))
            with database.reading() as own:
                os._exit(own is parents)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert store.load("one").work.step == 1
    assert append_step(store, store.load("one")).work.step == 2 and state.work.step == 0


def test_a_pending_reply_survives_between_snapshots(path: Path, worked: State) -> None:
    state = append_events(open_sqlite_journal(path), worked, make_call_events(worked.work.step + 1))
    assert open_sqlite_journal(path).load("one") == state and state.work.pending


def test_a_checkpoint_is_a_snapshot_at_once(path: Path) -> None:
    store = open_sqlite_journal(path)
    state = append_step(store, append_events(store, create_task(store), [happened.TaskClaimed("worker")]))
    before = only(path, "SELECT seq FROM snapshot")
    state = append_events(
        store, state, [ceiling_state.CeilingChanged(1, 4_000, 8_000, "why"), happened.CheckpointWritten(1, "why")]
    )
    assert only(path, "SELECT seq FROM snapshot") == state.head.seq != before
    assert open_sqlite_journal(path).load("one") == state and state.budget == 8_000


def test_any_step_is_found_by_looking_at_few_records(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, looked = open_sqlite_journal(path), list[int]()
    state = create_task(store)
    for _ in range(200):
        state = append_step(store, state)
    whole = journal_module._decompress_entries
    monkeypatch.setattr(journal_module, "_decompress_entries", lambda body, seq: looked.append(seq) or whole(body, seq))
    for step in (1, 2, 99, 200):
        looked.clear()
        at = store.find_step("one", step)
        assert len(looked) < 30, "the logarithm of 400 records, twice"
        first = next(store.journal("one", at)).event
        assert isinstance(first, happened.CallRequested) and first.step == step
    assert store.find_step("one", 201) == state.head, "the end, where there is no such step"
    with pytest.raises(BadInput):
        store.find_step("other", 1)
