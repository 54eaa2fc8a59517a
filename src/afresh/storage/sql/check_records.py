"""Checks the hashes of stored records without reading what the entries say: a fraction of the time."""

from hashlib import sha256

from afresh.storage.sql.blocks import decompress_text
from afresh.storage.sql.database import SqlConnection

HASH_BYTES = 32
HEAD_SQL = "SELECT number, seq, hash FROM task JOIN ticket ON ticket.task = number WHERE id = ?"
RECORDS_SQL = (
    "SELECT * FROM (SELECT seq, hashes, entries FROM record WHERE task = ? ORDER BY seq DESC LIMIT ?) AS last ORDER BY seq"
)
HASH_BEFORE_SQL = "SELECT substr(hashes, length(hashes) - 31) FROM record WHERE task = ? AND seq < ? ORDER BY seq DESC LIMIT 1"
ALL_RECORDS = 1 << 40


def find_record_damage(connection: SqlConnection, task: str, last: int = ALL_RECORDS) -> str:
    """Say what is damaged in the last so many records of a task; empty if every entry matches its hash."""
    row = connection.execute(HEAD_SQL, (task,)).fetchone()
    if row is None:
        return "it has no ticket"
    number, end, head = row
    records = connection.execute(RECORDS_SQL, (number, last)).fetchall()
    first = records[0][0] if records else 1
    before = connection.execute(HASH_BEFORE_SQL, (number, first)).fetchone() if first > 1 else None
    at, hash = first - 1, before[0].hex() if before else ""
    for seq, hashes, kept in records:
        bodies, damage = _read_bodies(seq, kept) if seq == at + 1 else ([], f"journal entry {at + 1} is missing")
        for place, body in enumerate(bodies):
            at, hash = at + 1, sha256((hash + body).encode()).hexdigest()
            if not damage and bytes.fromhex(hash) != hashes[place * HASH_BYTES : place * HASH_BYTES + HASH_BYTES]:
                damage = f"journal entry {at} does not match its hash"
        if damage:
            return damage
    return "" if (at, bytes.fromhex(hash)) == (end, head) else f"its journal ends at entry {at}, {end} were written"


def _read_bodies(seq: int, kept: str | bytes) -> tuple[list[str], str]:
    """The bodies of a record, and why they can't be read."""
    try:
        return decompress_text(kept).split("\n"), ""
    except ValueError as fault:
        return [], f"journal entry {seq} can't be read: {fault}"
