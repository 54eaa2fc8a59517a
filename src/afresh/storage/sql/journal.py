"""The journal and the archive."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby, islice, pairwise
from typing import NamedTuple

from afresh.core import hash_chain
from afresh.core.archived_block import Block, find_block_ids
from afresh.core.event import TAG_BY_EVENT_CLASS, CallRequested, CheckpointWritten, JournalEntry, JournalHead
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.task import Task, TaskStatus
from afresh.errors import WAY_BACK, BadInput, Broken, Conflict, Damaged, name_damaged_task
from afresh.storage.sql import blocks, state_snapshot
from afresh.storage.sql import blocks as blocks_module
from afresh.storage.sql.blocks import compress_text, decompress_text
from afresh.storage.sql.check_records import find_record_damage
from afresh.storage.sql.database import JournalChange, SqlConnection, SqlDatabase, repeat_if_lost
from afresh.storage.sql.queue import NO_LIMIT, write_ticket

RECORDS_PER_READ = 64
"""Records that are read at a time, about 250 entries."""
RECORDS_PER_SEARCH = 4
"""A step has two records or a few more."""
SNAPSHOT_INTERVAL_ENTRIES = 100
"""Entries between two snapshots, about fourteen steps: writing one costs more than reading these again."""
COMPRESS_ENTRIES_FROM_CHARACTERS = 4_000
MAX_REMEMBERED_BLOCKS = 4_096
LAST_HASH_SQL = "SELECT substr(hashes, length(hashes) - 31) FROM record WHERE task = ? AND seq < ? ORDER BY seq DESC LIMIT 1"
WRITE_SNAPSHOT_SQL = (
    "INSERT INTO snapshot (task, seq, body) VALUES (?, ?, ?)"
    " ON CONFLICT (task) DO UPDATE SET seq = excluded.seq, body = excluded.body"
)
CHANGES_SQL = "SELECT change, id, seq, hash FROM ticket JOIN task ON task = number WHERE change > ? ORDER BY change LIMIT ?"
LAST_CHANGE_SQL = "SELECT coalesce((SELECT id FROM identity), ''), (SELECT coalesce(max(change), 0) FROM ticket)"
CALL_TAG = TAG_BY_EVENT_CLASS[CallRequested]
MAX_ENTRIES_PER_RECORD = 32
"""A clock that does not move must not make one record of a whole journal."""


class SqlJournal:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        self._kept: set[str] = set()

    @repeat_if_lost
    def append(self, entries: Sequence[JournalEntry], blocks: Sequence[Block], state: State) -> None:
        _check_coherence(entries, state)
        strange = [block for block in blocks if block.id not in self._kept]
        records = [
            (record, compress_text("\n".join([entry.body for entry in record.entries]), COMPRESS_ENTRIES_FROM_CHARACTERS))
            for record in split_into_records(entries, strange)
        ]
        payload = sum([len(bodies) for _, bodies in records]) + sum([len(block.text) for block in strange])
        with self._database.writing(payload) as connection:
            before = _read_head(connection, state.task.id)
            _check_continuation(entries[0], before)
            number = before.number or _insert_task(connection, state.task)
            for record, bodies in records:
                self._insert_record(connection, number, record, bodies)
            write_ticket(connection, number, state, before.status)
            if _needs_snapshot(entries, state):
                body = self._database.encode_value(state_snapshot.encode_state(state))
                connection.execute(WRITE_SNAPSHOT_SQL, (number, state.head.seq, body))
        self._remember(strange)

    def _insert_record(self, connection: SqlConnection, number: int, record: "JournalRecord", bodies: str | bytes) -> None:
        first, encode = record.entries[0].seq, self._database.encode_value
        hashes = bytes.fromhex("".join([entry.hash for entry in record.entries]))
        pack = blocks_module.claim_blocks(connection, number, first, record.blocks)
        row = (number, first, hashes, encode(bodies), None if pack is None else encode(pack))
        connection.execute("INSERT INTO record (task, seq, hashes, entries, blocks) VALUES (?, ?, ?, ?, ?)", row)

    @repeat_if_lost
    def load(self, task: str) -> State:
        with self._database.reading() as connection:
            state = _load_snapshot(connection, _require_head(connection, task))
        return state or fold_entries(None, self.journal(task))

    def heads(self, after: int = 0) -> dict[str, JournalHead]:
        """The end of each journal that was written to after this change."""
        return {task: head for _, task, head in self.list_changes(after)}

    @repeat_if_lost
    def list_changes(self, after: int, most: int = NO_LIMIT) -> list[tuple[int, str, JournalHead]]:
        """The last change of each task after this one, in their order, with the end of its journal."""
        with self._database.reading() as connection:
            rows = connection.execute(CHANGES_SQL, (after, most))
            return [(change, task, JournalHead(seq, hash.hex())) for change, task, seq, hash in rows]

    @repeat_if_lost
    def read_last_change(self) -> JournalChange:
        with self._database.reading() as connection:
            return JournalChange(*connection.execute(LAST_CHANGE_SQL).fetchone())

    def journal(self, task: str, after: JournalHead = JournalHead()) -> Iterator[JournalEntry]:
        """From the beginning; or what follows after the end of a commit. Where `after` is none, from the beginning too."""
        with self._database.reading() as connection:
            standing = _require_head(connection, task)
            begun = connection.execute("SELECT 1 FROM record WHERE task = ? AND seq = ?", (standing.number, after.seq + 1))
            at, end = after if begun.fetchone() else JournalHead(), standing.head.seq
        while at.seq < end:
            try:
                page = self._read_page(standing.number, at, end)
            except Damaged as fault:
                raise name_damaged_task(fault, task) from fault
            if not page:
                raise Damaged(
                    f"task {task}: its journal ends at entry {at.seq}, {end} were written",
                    next=WAY_BACK,
                    safe="the entries before that are intact",
                )
            at = JournalHead(page[-1].seq, page[-1].hash)
            yield from page

    @repeat_if_lost
    def _read_page(self, number: int, at: JournalHead, end: int) -> list[JournalEntry]:
        with self._database.reading() as connection:
            return _read_entries(connection, number, at, end)

    @repeat_if_lost
    def check(self, task: str) -> None:
        with self._database.reading() as connection:
            _require_head(connection, task)
            if damage := find_record_damage(connection, [task]).get(task):
                raise Damaged(f"task {task}: {damage}", next=WAY_BACK, safe="the entries before that are intact")

    @repeat_if_lost
    def read_new_entries(self, task: str, after: JournalHead) -> list[JournalEntry]:
        """What was committed after this end of the journal, a page at a time; empty if there is nothing new."""
        with self._database.reading() as connection:
            standing = _require_head(connection, task)
            return _read_entries(connection, standing.number, after, standing.head.seq)

    @repeat_if_lost
    def find_step(self, task: str, step: int) -> JournalHead:
        """Found by halving, since calls are in the order of their steps."""
        with self._database.reading() as connection:
            standing = _require_head(connection, task)
            low, high = 0, standing.head.seq
            while low < high:
                middle = (low + high) // 2
                at, found = _find_call_after(connection, standing.number, middle)
                if at and found < step:
                    low = at
                else:
                    high = middle
            at, _ = _find_call_after(connection, standing.number, low)
            before = connection.execute(LAST_HASH_SQL, (standing.number, at or standing.head.seq + 1)).fetchone()
        return JournalHead(at - 1, before[0].hex()) if at else standing.head

    @repeat_if_lost
    def read(self, block: str) -> str:
        with self._database.reading() as connection:
            return blocks.read_block(connection, block)

    @repeat_if_lost
    def find(self, prefix: str, task: str) -> Sequence[str]:
        with self._database.reading() as connection:
            return blocks.find_blocks(connection, prefix, task)

    def close(self) -> None:
        self.forget_blocks()
        self._database.close()

    def forget_blocks(self) -> None:
        """What was appended may have been rolled back: ask the database again."""
        self._kept.clear()

    def _remember(self, blocks: Sequence[Block]) -> None:
        """Remember which blocks are committed: most blocks of a prompt are in the prompt before it."""
        if len(self._kept) > MAX_REMEMBERED_BLOCKS:
            self._kept.clear()
        self._kept.update([block.id for block in blocks])


class JournalRecord(NamedTuple):
    """Entries of one commit, and the blocks that came with them."""

    entries: Sequence[JournalEntry]
    blocks: Sequence[Block]


def split_into_records(entries: Sequence[JournalEntry], blocks: Sequence[Block]) -> Iterator[JournalRecord]:
    """A record is what was one commit: its entries have one time. A journal from elsewhere is many; a block goes with the first
    that names it, so that reading it does not mean to read them all."""
    if entries[0].at == entries[-1].at and len(entries) <= MAX_ENTRIES_PER_RECORD:
        yield JournalRecord(entries, blocks)
        return
    left = {block.id: block for block in blocks}
    for _, commit in groupby(entries, key=lambda entry: entry.at):
        while part := tuple(islice(commit, MAX_ENTRIES_PER_RECORD)):
            names = find_block_ids("\n".join([entry.body for entry in part]))
            came = list(left.values()) if part[-1] is entries[-1] else [left.pop(name) for name in names if name in left]
            yield JournalRecord(part, came)


def _check_coherence(entries: Sequence[JournalEntry], state: State) -> None:
    """Broken unless the entries follow each other and end at the state's head."""
    if not entries or JournalHead(entries[-1].seq, entries[-1].hash) != state.head:
        raise Broken("the state does not stand at the last of the entries that lead to it")
    for before, entry in pairwise(entries):
        if entry.seq != before.seq + 1 or entry.hash != hash_chain.hash_entry(before.hash, entry.body):
            raise Broken(f"entry {entry.seq} does not follow entry {before.seq}")
    if {entry.task for entry in entries} != {state.task.id}:
        raise Broken("one append is for one task")


def _needs_snapshot(entries: Sequence[JournalEntry], state: State) -> bool:
    """Whether to write a snapshot: every few steps, when the task is not running any more, and at a checkpoint."""
    now_and_then = entries[0].seq // SNAPSHOT_INTERVAL_ENTRIES != (state.head.seq + 1) // SNAPSHOT_INTERVAL_ENTRIES
    return now_and_then or state.status is not TaskStatus.RUNNING or isinstance(entries[-1].event, CheckpointWritten)


class _JournalHead(NamedTuple):
    """The end of a task's journal."""

    number: int = 0
    status: str = ""
    head: JournalHead = JournalHead()


def _read_head(connection: SqlConnection, task: str) -> _JournalHead:
    row = connection.execute(
        "SELECT number, status, seq, hash FROM task JOIN ticket ON ticket.task = number WHERE id = ?", (task,)
    ).fetchone()
    return _JournalHead(row[0], row[1], JournalHead(row[2], row[3].hex())) if row else _JournalHead()


def _require_head(connection: SqlConnection, task: str) -> _JournalHead:
    standing = _read_head(connection, task)
    if not standing.number:
        raise BadInput(f"no such task: {task}", next="`afresh status --all` lists the tasks")
    return standing


def _check_continuation(first: JournalEntry, before: _JournalHead) -> None:
    head = before.head
    if first.seq != head.seq + 1 or first.hash != hash_chain.hash_entry(head.hash, first.body):
        raise Conflict(f"the journal of {first.task} stands at entry {head.seq}; entry {first.seq} does not follow from it")


def _insert_task(connection: SqlConnection, task: Task) -> int:
    """Number a new task: the order of the queue."""
    row = (task.id, task.goal, task.type)
    rows = connection.execute("INSERT INTO task (id, goal, type) VALUES (?, ?, ?) RETURNING number", row)
    number = rows.fetchall()[0][0]
    if task.parent:
        connection.execute("INSERT INTO part (task, parent) VALUES (?, ?)", (number, task.parent))
    return number


def _load_snapshot(connection: SqlConnection, standing: _JournalHead) -> State | None:
    """The snapshot, folded on to the head. None when that does not fit: the journal is the truth, and can make it again."""
    row = connection.execute("SELECT body FROM snapshot WHERE task = ?", (standing.number,)).fetchone()
    try:
        state = state_snapshot.decode_state(row[0]) if row else None
        state = fold_entries(state, _read_entries(connection, standing.number, state.head, standing.head.seq)) if state else None
    except (ValueError, TypeError, KeyError, AttributeError, Damaged):
        return None
    return state if state and state.head == standing.head else None


def _read_entries(connection: SqlConnection, number: int, at: JournalHead, end: int) -> list[JournalEntry]:
    """The next entries after `at`, up to `end`, each checked against the one before it."""
    rows = connection.execute(
        "SELECT hashes, entries FROM record WHERE task = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
        (number, at.seq, end, RECORDS_PER_READ),
    )
    entries: list[JournalEntry] = []
    for hashes, bodies in rows:
        for place, body in enumerate(_decompress_entries(bodies, at.seq + 1).split("\n")):
            entry = hash_chain.read_entry(body, at, hashes[place * 32 : place * 32 + 32].hex())
            entries.append(entry)
            at = JournalHead(entry.seq, entry.hash)
    return entries


def _find_call_after(connection: SqlConnection, number: int, after: int) -> tuple[int, int]:
    """The first record after this entry that requests a call, and the step of the call; zeros if there is none."""
    page = "SELECT seq, entries FROM record WHERE task = ? AND seq > ? ORDER BY seq LIMIT ?"
    while rows := connection.execute(page, (number, after, RECORDS_PER_SEARCH)).fetchall():
        for after, bodies in rows:
            for body in _decompress_entries(bodies, after).split("\n"):
                if f'"kind":"{CALL_TAG}"' in body and (plain := json.loads(body))["kind"] == CALL_TAG:
                    return after, plain["data"]["step"]
    return 0, 0


def _decompress_entries(body: str | bytes, seq: int) -> str:
    try:
        return decompress_text(body)
    except ValueError as fault:
        raise Damaged(
            f"journal entry {seq} can't be read: {fault}",
            next=WAY_BACK,
            safe="entries before it are intact",
        ) from fault
