"""Checks the hashes of stored records without reading what the entries say: a fraction of the time."""

from collections.abc import Sequence
from hashlib import sha256

from afresh.storage.sql.blocks import decompress_text
from afresh.storage.sql.database import SqlConnection

HASH_BYTES = 32
HEADS_SQL = "SELECT id, number, seq, hash FROM task JOIN ticket ON ticket.task = number WHERE id IN ({})"
RECORDS_SQL = "SELECT * FROM (SELECT task, seq, hashes, entries FROM record WHERE task = ? ORDER BY seq DESC LIMIT ?) AS last"
ALL_RECORDS = 1 << 40
StoredRecord = tuple[int, bytes, str | bytes]
"""The number of its first entry, the hash of each entry, and the entries."""


def find_record_damage(connection: SqlConnection, tasks: Sequence[str], last: int = ALL_RECORDS) -> dict[str, str]:
    """Say what is damaged in the last so many records of these tasks; a task whose every entry matches its hash is left out. Two
    statements, however many tasks there are."""
    heads = {row[0]: row[1:] for row in connection.execute(HEADS_SQL.format(", ".join("?" * len(tasks))), tuple(tasks))}
    numbers = [number for number, _, _ in heads.values()]
    records: dict[int, list[StoredRecord]] = {number: [] for number in numbers}
    if numbers:  # one more of each than asked for: the first entry is hashed with the hash before it
        values = [value for number in numbers for value in (number, last + 1)]
        for number, seq, hashes, entries in connection.execute(" UNION ALL ".join([RECORDS_SQL] * len(numbers)), values):
            records[number].append((seq, bytes(hashes), entries))
    found = {task: _check_task(sorted(records[head[0]]), head, last) for task, head in heads.items()}
    missing = dict.fromkeys((task for task in tasks if task not in heads), "it has no ticket")
    return {task: damage for task, damage in (found | missing).items() if damage}


def _check_task(records: list[StoredRecord], head: tuple[int, int, bytes], last: int) -> str:
    """Say what is damaged in the last so many records of a task that should end at this head."""
    at, hash = 0, ""
    if len(records) > last:
        seq, hashes, _ = records.pop(0)
        at, hash = seq + len(hashes) // HASH_BYTES - 1, hashes[-HASH_BYTES:].hex()
    for seq, hashes, kept in records:
        bodies, damage = _read_bodies(seq, kept) if seq == at + 1 else ([], f"journal entry {at + 1} is missing")
        for place, body in enumerate(bodies):
            at, hash = at + 1, sha256((hash + body).encode()).hexdigest()
            if not damage and bytes.fromhex(hash) != hashes[place * HASH_BYTES : place * HASH_BYTES + HASH_BYTES]:
                damage = f"journal entry {at} does not match its hash"
        if damage:
            return damage
    _, end, named = head
    return "" if (at, bytes.fromhex(hash)) == (end, bytes(named)) else f"its journal ends at entry {at}, {end} were written"


def _read_bodies(seq: int, kept: str | bytes) -> tuple[list[str], str]:
    """The bodies of a record, and why they can't be read."""
    try:
        return decompress_text(kept).split("\n"), ""
    except ValueError as fault:
        return [], f"journal entry {seq} can't be read: {fault}"
