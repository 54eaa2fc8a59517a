"""Keeps the index of code small: packs what is loose, joins small segments, and forgets what no tree holds any more."""

from collections.abc import Iterator
from itertools import groupby
from sqlite3 import Connection

from afresh.adapters.store.code_packing import Postings, inverted, loosened, numbers_in, only, packed

LOOSE, SMALL, SEGMENTS = 64, 1_000, 12
"""Contents that may be loose; contents that make a segment small; small segments that may be."""
DAY = 86_400.0
MONTH = 30 * DAY
SPARE = 1_000
"""Contents of no tree that are not worth the work."""
INSERT = "INSERT INTO posting (term, segment, contents) VALUES (?, ?, ?)"


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
    connection.executemany(INSERT, ((term, segment, packed(postings[term])) for term in sorted(postings)))


def fold(connection: Connection) -> None:
    rows = connection.execute("SELECT content, terms FROM loose ORDER BY content").fetchall()
    insert(connection, inverted((number, loosened(plain)) for number, plain in rows), len(rows))
    connection.execute("DELETE FROM loose")


def join(connection: Connection) -> None:
    """Make one segment of the small ones."""
    small = [row[0] for row in connection.execute("SELECT number FROM segment WHERE size < ?", (SMALL,))]
    chosen = ", ".join(map(str, small))
    (size,) = connection.execute(f"SELECT sum(size) FROM segment WHERE number IN ({chosen})").fetchone()
    rows = connection.execute(f"SELECT term, contents FROM posting WHERE segment IN ({chosen}) ORDER BY term").fetchall()
    connection.execute(f"DELETE FROM posting WHERE segment IN ({chosen})")
    connection.execute(f"DELETE FROM segment WHERE number IN ({chosen})")
    joined = {term: [number for _, data in group for number in numbers_in(data)] for term, group in groupby(rows, lambda row: row[0])}
    insert(connection, joined, size)


def crowded(connection: Connection, now: float) -> bool:
    """Whether more contents, not of today, are held than trees hold."""
    (old,) = connection.execute("SELECT count(*) FROM content WHERE since < ?", (now - DAY,)).fetchone()
    (held,) = connection.execute("SELECT coalesce(sum(length(numbers)) / 4, 0) FROM tree WHERE used > ?", (now - MONTH,)).fetchone()
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
    for term, segment, data in list(_postings(connection)):
        left = only(term, numbers_in(data), kept)
        if not left:
            connection.execute("DELETE FROM posting WHERE term = ? AND segment = ?", (term, segment))
        elif len(left) * 4 < len(data):
            connection.execute("UPDATE posting SET contents = ? WHERE term = ? AND segment = ?", (packed(left), term, segment))


def _postings(connection: Connection) -> Iterator[tuple[str, int, bytes]]:
    yield from connection.execute("SELECT term, segment, contents FROM posting")
