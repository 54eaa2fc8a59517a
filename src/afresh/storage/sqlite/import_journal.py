"""Journals from elsewhere into the database: all of them in one transaction, and only where they continue what is here."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby, islice
from sqlite3 import Connection

from afresh.core.block import Block
from afresh.core.codec import to_canonical_json
from afresh.core.event import JournalEntry
from afresh.core.state import State
from afresh.storage.sqlite import blocks as blocks_module
from afresh.storage.sqlite import state_snapshot
from afresh.storage.sqlite.compression import compress_text
from afresh.storage.sqlite.tickets import write_ticket
from afresh.storage.worker_lease import is_worker_dead

COMPRESS_IMPORTED_FROM_CHARACTERS = 4_000
MAX_ENTRIES_PER_RECORD = 32
"""Entries of a record: a clock that stands still must not make one of all."""


class JournalRelation(StrEnum):
    """How a journal from elsewhere stands to the one that is here."""

    NEW = "new"
    LONGER = "longer"
    """It goes on where ours ends."""
    SAME = "same"
    BEHIND = "behind"
    """Ours goes on where it ends."""
    DIVERGED = "diverged"

    @property
    def adds(self) -> bool:
        return self in (JournalRelation.NEW, JournalRelation.LONGER)


@dataclass(frozen=True, slots=True)
class JournalComparison:
    relation: JournalRelation
    here: int = 0
    """Entries that are here."""
    parting: int = 0
    """The first entry that differs."""


def list_task_numbers(connection: Connection) -> dict[str, int]:
    """Every task with its place in the queue, in order."""
    return dict(connection.execute("SELECT id, number FROM task ORDER BY number").fetchall())


def read_entry_hash(connection: Connection, task: str, seq: int) -> str:
    """The hash of an entry of a task, or of the notebook if none is named; empty when there is no such entry."""
    if not task:
        row = connection.execute("SELECT hash FROM note WHERE seq = ?", (seq,)).fetchone()
        return row[0].hex() if row else ""
    row = connection.execute(
        "SELECT record.seq, hashes FROM record JOIN task ON number = record.task WHERE id = ? AND record.seq <= ?"
        " ORDER BY record.seq DESC LIMIT 1",
        (task, seq),
    ).fetchone()
    return row[1][(seq - row[0]) * 32 : (seq - row[0] + 1) * 32].hex() if row else ""


def compare_journals(connection: Connection, task: str, entries: Sequence[JournalEntry]) -> JournalComparison:
    """Chains that agree in an entry agree in all before it, so that halving the distance finds where they part."""
    here, there = count_entries(connection, task), len(entries)
    agreed, beyond = 0, min(here, there) + 1
    while beyond - agreed > 1:
        middle = (agreed + beyond) // 2
        same = read_entry_hash(connection, task, middle) == entries[middle - 1].hash
        agreed, beyond = (middle, beyond) if same else (agreed, middle)
    if agreed < min(here, there):
        return JournalComparison(JournalRelation.DIVERGED, here, agreed + 1)
    if here == there:
        return JournalComparison(JournalRelation.SAME, here)
    return JournalComparison(
        JournalRelation.BEHIND if here > there else JournalRelation.LONGER if here else JournalRelation.NEW, here
    )


def count_entries(connection: Connection, task: str) -> int:
    if not task:
        return connection.execute("SELECT coalesce(max(seq), 0) FROM note").fetchone()[0]
    row = connection.execute("SELECT seq FROM ticket JOIN task ON number = ticket.task WHERE id = ?", (task,)).fetchone()
    return row[0] if row else 0


def assign_task_numbers(connection: Connection, wanted: Mapping[str, int]) -> dict[str, int]:
    """Numbers for new tasks: their own if all of them are free, otherwise after what is here, in the same order."""
    taken = set(list_task_numbers(connection).values())
    if not taken & set(wanted.values()) and len(set(wanted.values())) == len(wanted):
        return dict(wanted)
    return {task: number for number, task in enumerate(sorted(wanted, key=lambda task: wanted[task]), max(taken, default=0) + 1)}


def find_lease_holder(connection: Connection, task: str, now: float) -> str:
    """The living worker that holds the task, or the one that it is a part of."""
    row = connection.execute(
        "SELECT worker FROM lease JOIN task ON number = lease.task WHERE worker != '' AND expires > ?"
        " AND id = coalesce((SELECT parent FROM part JOIN task ON number = part.task WHERE id = ?), ?)",
        (now, task, task),
    ).fetchone()
    return row[0] if row and not is_worker_dead(row[0]) else ""


def import_entries(
    connection: Connection, state: State, number: int, entries: Iterable[JournalEntry], texts: Mapping[str, str]
) -> None:
    """Append these entries, which must continue what is here, with the blocks among `texts` that they are to own."""
    order = state.task
    row = (number, order.id, order.goal, order.type, order.priority, to_canonical_json(order.needs))
    connection.execute("INSERT OR IGNORE INTO task (number, id, goal, type, priority, needs) VALUES (?, ?, ?, ?, ?, ?)", row)
    if order.parent:
        connection.execute("INSERT OR IGNORE INTO part (task, parent) VALUES (?, ?)", (number, order.parent))
    for commit in split_into_commits(entries):
        lines = "\n".join([entry.body for entry in commit])
        came = [Block(name, texts[name]) for name in blocks_module.find_block_ids(lines) if name in texts]
        hashes = bytes.fromhex("".join([entry.hash for entry in commit]))
        blocks = blocks_module.claim_blocks(connection, number, commit[0].seq, came)
        record = (number, commit[0].seq, hashes, compress_text(lines, COMPRESS_IMPORTED_FROM_CHARACTERS), blocks)
        connection.execute("INSERT INTO record (task, seq, hashes, entries, blocks) VALUES (?, ?, ?, ?, ?)", record)
    (before,) = connection.execute("SELECT status FROM ticket WHERE task = ?", (number,)).fetchone() or ("",)
    write_ticket(connection, number, state, before)
    kept = (number, state.head.seq, state_snapshot.encode_state(state))
    connection.execute("INSERT OR REPLACE INTO snapshot (task, seq, body) VALUES (?, ?, ?)", kept)


def split_into_commits(entries: Iterable[JournalEntry]) -> Iterator[tuple[JournalEntry, ...]]:
    """Entries of one commit have one time."""
    for _, commit in groupby(entries, key=lambda entry: entry.at):
        while part := tuple(islice(commit, MAX_ENTRIES_PER_RECORD)):
            yield part
