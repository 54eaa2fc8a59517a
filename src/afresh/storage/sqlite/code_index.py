"""The code store in one SQLite file. It is a projection: whatever is wrong with it, it is thrown away and made again."""

import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from afresh.core.symbol import ContentToIndex, FileReading, IndexedContent, IndexTerm, TreeListing
from afresh.errors import Broken, Damaged
from afresh.storage.sql.database import SqlConnection
from afresh.storage.sql.schema import DatabaseSchema
from afresh.storage.sqlite import code_index_format as packing
from afresh.storage.sqlite.code_index_format import (
    ContentTerms,
    TermPostings,
    decode_terms,
    encode_runs,
    invert_terms,
    keep_contents,
    pack_numbers,
    unpack_numbers,
)
from afresh.storage.sqlite.database import Database

CODE_INDEX_SCHEMA = DatabaseSchema(
    0x61667263,
    """
CREATE TABLE content (number INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE, length INTEGER NOT NULL,
    since REAL NOT NULL, bare TEXT NOT NULL, rest BLOB NOT NULL) STRICT;
-- Which contents use a term. Those of many contents that came together are packed, a row for each run of terms: a segment. What
-- comes in small numbers is loose, and packed when it has become many.
CREATE TABLE posting (segment INTEGER NOT NULL, kind TEXT NOT NULL, first TEXT NOT NULL, run BLOB NOT NULL,
    PRIMARY KEY (segment, kind, first)) STRICT;
CREATE TABLE segment (number INTEGER PRIMARY KEY AUTOINCREMENT, size INTEGER NOT NULL) STRICT;
CREATE TABLE loose (content INTEGER PRIMARY KEY, terms TEXT NOT NULL) STRICT;
CREATE TABLE tree (name TEXT PRIMARY KEY, used REAL NOT NULL, stamps BLOB NOT NULL, keys BLOB NOT NULL, numbers BLOB NOT NULL,
    lengths BLOB NOT NULL) STRICT;
""",
    lasting=False,
)
MAX_LOOSE_CONTENTS = 64
SMALL_SEGMENT_CONTENTS = 1_000
MAX_SMALL_SEGMENTS = 12
"""Contents that may be loose; contents that make a segment small; small segments that may be."""
DAY_SECONDS = 86_400.0
MONTH_SECONDS = 30 * DAY_SECONDS
MAX_STALE_CONTENTS = 1_000
"""Contents of no tree that are not worth the work."""
INSERT_POSTING_SQL = "INSERT INTO posting (segment, kind, first, run) VALUES (?, ?, ?, ?)"


def tidy_index(connection: SqlConnection, now: float) -> None:
    (loose,) = connection.execute("SELECT count(*) FROM loose").fetchone()
    if loose <= MAX_LOOSE_CONTENTS:
        return
    pack_loose_terms(connection)
    if has_stale_contents(connection, now):
        sweep_stale_contents(connection, now)
    (small,) = connection.execute("SELECT count(*) FROM segment WHERE size < ?", (SMALL_SEGMENT_CONTENTS,)).fetchone()
    if small > MAX_SMALL_SEGMENTS:
        join_small_segments(connection)


def insert_segment(connection: SqlConnection, postings: TermPostings, size: int) -> None:
    """A new segment."""
    ((segment,),) = connection.execute("INSERT INTO segment (size) VALUES (?) RETURNING number", (size,)).fetchall()
    connection.executemany(INSERT_POSTING_SQL, ((segment, *run) for run in encode_runs(postings)))


def pack_loose_terms(connection: SqlConnection) -> None:
    rows = connection.execute("SELECT content, terms FROM loose ORDER BY content").fetchall()
    insert_segment(connection, invert_terms((number, decode_terms(plain)) for number, plain in rows), len(rows))
    connection.execute("DELETE FROM loose")


def join_small_segments(connection: SqlConnection) -> None:
    """Make one segment of the small ones."""
    small = connection.execute("SELECT number, size FROM segment WHERE size < ?", (SMALL_SEGMENT_CONTENTS,)).fetchall()
    joined: TermPostings = {kind: {} for kind in IndexTerm}
    for segment, _ in small:
        for kind, found in _read_postings(connection, segment).items():
            for name, numbers in found.items():
                joined[kind].setdefault(name, []).extend(numbers)
        _drop_segment(connection, segment)
    insert_segment(connection, joined, sum(size for _, size in small))


def has_stale_contents(connection: SqlConnection, now: float) -> bool:
    """Whether more contents, not of today, are held than trees hold."""
    (old,) = connection.execute("SELECT count(*) FROM content WHERE since < ?", (now - DAY_SECONDS,)).fetchone()
    size = "SELECT coalesce(sum(length(numbers)) / 4, 0) FROM tree WHERE used > ?"
    (held,) = connection.execute(size, (now - MONTH_SECONDS,)).fetchone()
    return old > held * 2 + MAX_STALE_CONTENTS


def sweep_stale_contents(connection: SqlConnection, now: float) -> None:
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


def _read_postings(connection: SqlConnection, segment: int) -> TermPostings:
    found: TermPostings = {kind: {} for kind in IndexTerm}
    for kind, run in connection.execute("SELECT kind, run FROM posting WHERE segment = ?", (segment,)):
        found[IndexTerm(kind)] |= packing.unpack_json(run)
    return found


def _drop_segment(connection: SqlConnection, segment: int) -> None:
    connection.execute("DELETE FROM posting WHERE segment = ?", (segment,))
    connection.execute("DELETE FROM segment WHERE number = ?", (segment,))


MIN_PACKED_CONTENTS = 32
"""New contents that are packed at once."""
MAX_VALUES_PER_QUERY = 500
"""Values of one question."""
KEY_BYTES = 16
ReadingTexts = tuple[str, bytes]
"""A reading without what is large in it, and that."""
FIND_RUN_SQL = "SELECT run FROM posting WHERE segment = ? AND kind = ? AND first <= ? ORDER BY first DESC LIMIT 1"


class SqliteCodeIndex:
    def __init__(self, path: Path, now: Callable[[], float] = time.time, is_kept: Callable[[], bool] | None = None) -> None:
        self._database, self._now = Database(path, schema=CODE_INDEX_SCHEMA, is_kept=is_kept), now
        self._loose: dict[int, ContentTerms] = {}
        self._current = False

    def listing(self, tree: str) -> TreeListing | None:
        self._current = False
        try:
            with self._reading() as connection:
                row = connection.execute("SELECT stamps, keys, numbers, lengths FROM tree WHERE name = ?", (tree,)).fetchone()
                return _decode_listing(*row) if row else None
        except Damaged:
            return None

    def keep(self, tree: str, listing: TreeListing) -> None:
        row = (
            listing.stamps.encode(),
            bytes.fromhex("".join(listing.keys)),
            pack_numbers(content.number for content in listing.contents),
            pack_numbers(content.length for content in listing.contents),
        )
        with self._guarded(), self._database.writing(sum(map(len, row))) as connection:
            connection.execute(
                "INSERT OR REPLACE INTO tree (name, used, stamps, keys, numbers, lengths) VALUES (?, ?, ?, ?, ?, ?)",
                (tree, self._now(), *row),
            )
            tidy_index(connection, self._now())

    def add(self, wanted: Mapping[str, Callable[[], ContentToIndex]]) -> Mapping[str, IndexedContent]:
        self._current = False
        with self._reading() as connection:
            found = _find_contents(connection, wanted)
        lacking = {key: take() for key, take in wanted.items() if key not in found}
        if lacking:
            texts = {
                key: (packing.encode_bare_reading(taken.reading), packing.encode_reading_rest(taken.reading))
                for key, taken in lacking.items()
            }
            payload = sum(len(bare) + 2 * len(rest) for bare, rest in texts.values())
            with self._guarded(), self._database.writing(payload) as connection:
                found |= _find_contents(connection, lacking)  # another process may have been faster
                found |= self._insert(connection, {key: taken for key, taken in lacking.items() if key not in found}, texts)
        return found

    def readings(self, numbers: Sequence[int], bare: bool = False) -> Mapping[int, FileReading]:
        columns = "number, bare" if bare else "number, bare, rest"
        with self._reading() as connection:
            found = {
                number: packing.decode_reading(*texts)
                for number, *texts in _select_in_chunks(connection, f"SELECT {columns} FROM content WHERE number IN", numbers)
            }
        return {number: found[number] for number in numbers}

    def saying(self, term: IndexTerm, name: str) -> Mapping[int, int]:
        with self._reading() as connection:
            found = self._said_loosely(connection, term, name)
            for (segment,) in connection.execute("SELECT number FROM segment").fetchall():
                row = connection.execute(FIND_RUN_SQL, (segment, term.value, name)).fetchone()
                numbers = packing.unpack_json(row[0]).get(name) if row else None
                found |= packing.count_term_by_content(term, numbers) if numbers else {}
        return found

    def close(self) -> None:
        self._database.close()

    def _insert(
        self, connection: SqlConnection, new: Mapping[str, ContentToIndex], texts: Mapping[str, ReadingTexts]
    ) -> dict[str, IndexedContent]:
        (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'content'").fetchone()
        found = {key: IndexedContent(last + at, sum(taken.words.values())) for at, (key, taken) in enumerate(new.items(), 1)}
        now = self._now()
        rows = ((one.number, bytes.fromhex(key), one.length, now, *texts[key]) for key, one in found.items())
        connection.executemany("INSERT INTO content (number, key, length, since, bare, rest) VALUES (?, ?, ?, ?, ?, ?)", rows)
        if len(new) >= MIN_PACKED_CONTENTS:
            insert_segment(
                connection,
                packing.invert_terms((found[key].number, packing.collect_terms(taken)) for key, taken in new.items()),
                len(new),
            )
        else:
            few = ((found[key].number, packing.encode_terms(taken)) for key, taken in new.items())
            connection.executemany("INSERT INTO loose (content, terms) VALUES (?, ?)", few)
        return found

    def _said_loosely(self, connection: SqlConnection, term: IndexTerm, name: str) -> dict[int, int]:
        if not self._current:
            there = {number for (number,) in connection.execute("SELECT content FROM loose")}
            self._loose = {number: self._loose[number] for number in there & self._loose.keys()}
            lacking = sorted(there - self._loose.keys())
            rows = _select_in_chunks(connection, "SELECT content, terms FROM loose WHERE content IN", lacking)
            self._loose |= {number: packing.decode_terms(plain) for number, plain in rows}
            self._current = True
        if term is IndexTerm.WORD:
            return {number: said[name] for number, (said, _, _) in self._loose.items() if name in said}
        place = 1 if term is IndexTerm.MENTION else 2
        return {number: 1 for number, found in self._loose.items() if name in found[place]}

    @contextmanager
    def _reading(self) -> Iterator[SqlConnection]:
        with self._guarded(), self._database.reading() as connection:
            yield connection

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Delete a file that is damaged or has unexpected content, and raise Damaged: the caller works without the index."""
        try:
            yield
        except (Damaged, Broken, ValueError, TypeError, zlib.error) as error:
            self._throw_away()
            raise Damaged(
                "the index of code is damaged", next="nothing to do: it is rebuilt", safe="no code was changed"
            ) from error

    def _throw_away(self) -> None:
        self._database.discard()
        self._loose, self._current = {}, False


def _decode_listing(stamps: bytes, keys: bytes, numbers: bytes, lengths: bytes) -> TreeListing:
    contents = [
        IndexedContent(number, length) for number, length in zip(unpack_numbers(numbers), unpack_numbers(lengths), strict=True)
    ]
    plain = keys.hex()
    cut = [plain[at : at + 2 * KEY_BYTES] for at in range(0, len(plain), 2 * KEY_BYTES)]
    return TreeListing(stamps.decode(), cut, contents)


def _find_contents(connection: SqlConnection, keys: Iterable[str]) -> dict[str, IndexedContent]:
    wanted = [bytes.fromhex(key) for key in keys]
    rows = _select_in_chunks(connection, "SELECT key, number, length FROM content WHERE key IN", wanted)
    return {key.hex(): IndexedContent(number, length) for key, number, length in rows}


def _select_in_chunks(connection: SqlConnection, question: str, values: Sequence[int] | Sequence[bytes]) -> Iterator[tuple]:
    """The rows of a question that ends in `IN`, for any number of values."""
    for first in range(0, len(values), MAX_VALUES_PER_QUERY):
        some = values[first : first + MAX_VALUES_PER_QUERY]
        yield from connection.execute(f"{question} ({', '.join('?' * len(some))})", tuple(some)).fetchall()
