"""Keeps the index of code small: packs what is loose, joins small segments, and forgets what no tree holds any more."""

import json
from sqlite3 import Connection

from afresh.adapters.store.code_packing import Postings, inverted, loosened, numbers_in, only, runs
from afresh.domain.code import Term

LOOSE = 64
SMALL = 1_000
SEGMENTS = 12
"""Contents that may be loose; contents that make a segment small; small segments that may be."""
DAY = 86_400.0
MONTH = 30 * DAY
SPARE = 1_000
"""Contents of no tree that are not worth the work."""
INSERT = "INSERT INTO posting (segment, kind, first, run) VALUES (?, ?, ?, ?)"


def tidy(connection: Connection, now: float) -> None:
    (loose,) = connection.execute("SELECT count(*) FROM loose").fetchone()
    if loose <= LOOSE:
        return
    fold(connection)
    if crowded(connection, now):
        sweep(connection, now)
    (small,) = connection.execute("SELECT count(*) FROM segment WHERE size < ?", (SMALL,)).fetchone()
    if small > SEGMENTS:
        join(connection)


def insert(connection: Connection, postings: Postings, size: int) -> None:
    """A new segment."""
    segment = connection.execute("INSERT INTO segment (size) VALUES (?)", (size,)).lastrowid
    connection.executemany(INSERT, ((segment, *run) for run in runs(postings)))


def fold(connection: Connection) -> None:
    rows = connection.execute("SELECT content, terms FROM loose ORDER BY content").fetchall()
    insert(connection, inverted((number, loosened(plain)) for number, plain in rows), len(rows))
    connection.execute("DELETE FROM loose")


def join(connection: Connection) -> None:
    """Make one segment of the small ones."""
    small = connection.execute("SELECT number, size FROM segment WHERE size < ?", (SMALL,)).fetchall()
    joined: Postings = {kind: {} for kind in Term}
    for segment, _ in small:
        for kind, found in _postings(connection, segment).items():
            for name, numbers in found.items():
                joined[kind].setdefault(name, []).extend(numbers)
        _drop(connection, segment)
    insert(connection, joined, sum(size for _, size in small))


def crowded(connection: Connection, now: float) -> bool:
    """Whether more contents, not of today, are held than trees hold."""
    (old,) = connection.execute("SELECT count(*) FROM content WHERE since < ?", (now - DAY,)).fetchone()
    size = "SELECT coalesce(sum(length(numbers)) / 4, 0) FROM tree WHERE used > ?"
    (held,) = connection.execute(size, (now - MONTH,)).fetchone()
    return old > held * 2 + SPARE


def sweep(connection: Connection, now: float) -> None:
    """Forget trees that nobody looked at for a month, and contents that are in none; but none of today, as a view that was made
    before the last look at its tree may still ask for them."""
    connection.execute("DELETE FROM tree WHERE used < ?", (now - MONTH,))
    held = {number for (data,) in connection.execute("SELECT numbers FROM tree") for number in numbers_in(data)}
    rows = connection.execute("SELECT number FROM content WHERE since < ?", (now - DAY,)).fetchall()
    gone = [row for row in rows if row[0] not in held]
    connection.executemany("DELETE FROM content WHERE number = ?", gone)
    connection.executemany("DELETE FROM loose WHERE content = ?", gone)
    kept = {number for (number,) in connection.execute("SELECT number FROM content")}
    for segment, _ in connection.execute("SELECT number, size FROM segment").fetchall():
        found = _postings(connection, segment)
        left = {kind: {name: some for name in names if (some := only(kind, names[name], kept))} for kind, names in found.items()}
        if left != found:
            _drop(connection, segment)
            insert(connection, left, len({number for numbers in left[Term.MENTION].values() for number in numbers}))


def _postings(connection: Connection, segment: int) -> Postings:
    found: Postings = {kind: {} for kind in Term}
    for kind, run in connection.execute("SELECT kind, run FROM posting WHERE segment = ?", (segment,)):
        found[Term(kind)] |= json.loads(run)
    return found


def _drop(connection: Connection, segment: int) -> None:
    connection.execute("DELETE FROM posting WHERE segment = ?", (segment,))
    connection.execute("DELETE FROM segment WHERE number = ?", (segment,))
