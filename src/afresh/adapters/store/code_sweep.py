"""Keeps the index of code small: packs what is loose, joins small segments, and forgets what no tree holds any more."""

import json
from sqlite3 import Connection

from afresh.adapters.store.code_packing import (
    TermPostings,
    invert_terms,
    decode_terms,
    unpack_numbers,
    keep_contents,
    encode_runs,
)
from afresh.domain.code import IndexTerm

MAX_LOOSE_CONTENTS = 64
SMALL_SEGMENT_CONTENTS = 1_000
MAX_SMALL_SEGMENTS = 12
"""Contents that may be loose; contents that make a segment small; small segments that may be."""
DAY_SECONDS = 86_400.0
MONTH_SECONDS = 30 * DAY_SECONDS
MAX_STALE_CONTENTS = 1_000
"""Contents of no tree that are not worth the work."""
INSERT_POSTING_SQL = "INSERT INTO posting (segment, kind, first, run) VALUES (?, ?, ?, ?)"


def tidy_index(connection: Connection, now: float) -> None:
    (loose,) = connection.execute("SELECT count(*) FROM loose").fetchone()
    if loose <= MAX_LOOSE_CONTENTS:
        return
    pack_loose_terms(connection)
    if has_stale_contents(connection, now):
        sweep_stale_contents(connection, now)
    (small,) = connection.execute("SELECT count(*) FROM segment WHERE size < ?", (SMALL_SEGMENT_CONTENTS,)).fetchone()
    if small > MAX_SMALL_SEGMENTS:
        join_small_segments(connection)


def insert_segment(connection: Connection, postings: TermPostings, size: int) -> None:
    """A new segment."""
    segment = connection.execute("INSERT INTO segment (size) VALUES (?)", (size,)).lastrowid
    connection.executemany(INSERT_POSTING_SQL, ((segment, *run) for run in encode_runs(postings)))


def pack_loose_terms(connection: Connection) -> None:
    rows = connection.execute("SELECT content, terms FROM loose ORDER BY content").fetchall()
    insert_segment(connection, invert_terms((number, decode_terms(plain)) for number, plain in rows), len(rows))
    connection.execute("DELETE FROM loose")


def join_small_segments(connection: Connection) -> None:
    """Make one segment of the small ones."""
    small = connection.execute("SELECT number, size FROM segment WHERE size < ?", (SMALL_SEGMENT_CONTENTS,)).fetchall()
    joined: TermPostings = {kind: {} for kind in IndexTerm}
    for segment, _ in small:
        for kind, found in _read_postings(connection, segment).items():
            for name, numbers in found.items():
                joined[kind].setdefault(name, []).extend(numbers)
        _drop_segment(connection, segment)
    insert_segment(connection, joined, sum(size for _, size in small))


def has_stale_contents(connection: Connection, now: float) -> bool:
    """Whether more contents, not of today, are held than trees hold."""
    (old,) = connection.execute("SELECT count(*) FROM content WHERE since < ?", (now - DAY_SECONDS,)).fetchone()
    size = "SELECT coalesce(sum(length(numbers)) / 4, 0) FROM tree WHERE used > ?"
    (held,) = connection.execute(size, (now - MONTH_SECONDS,)).fetchone()
    return old > held * 2 + MAX_STALE_CONTENTS


def sweep_stale_contents(connection: Connection, now: float) -> None:
    """Forget trees that nobody looked at for a month, and contents that are in none; but none of today, as a view that was made
    before the last look at its tree may still ask for them."""
    connection.execute("DELETE FROM tree WHERE used < ?", (now - MONTH_SECONDS,))
    held = {number for (data,) in connection.execute("SELECT numbers FROM tree") for number in unpack_numbers(data)}
    rows = connection.execute("SELECT number FROM content WHERE since < ?", (now - DAY_SECONDS,)).fetchall()
    gone = [row for row in rows if row[0] not in held]
    connection.executemany("DELETE FROM content WHERE number = ?", gone)
    connection.executemany("DELETE FROM loose WHERE content = ?", gone)
    kept = {number for (number,) in connection.execute("SELECT number FROM content")}
    for segment, _ in connection.execute("SELECT number, size FROM segment").fetchall():
        found = _read_postings(connection, segment)
        left = {
            kind: {name: some for name in names if (some := keep_contents(kind, names[name], kept))}
            for kind, names in found.items()
        }
        if left != found:
            _drop_segment(connection, segment)
            insert_segment(connection, left, len({number for numbers in left[IndexTerm.MENTION].values() for number in numbers}))


def _read_postings(connection: Connection, segment: int) -> TermPostings:
    found: TermPostings = {kind: {} for kind in IndexTerm}
    for kind, run in connection.execute("SELECT kind, run FROM posting WHERE segment = ?", (segment,)):
        found[IndexTerm(kind)] |= json.loads(run)
    return found


def _drop_segment(connection: Connection, segment: int) -> None:
    connection.execute("DELETE FROM posting WHERE segment = ?", (segment,))
    connection.execute("DELETE FROM segment WHERE number = ?", (segment,))
