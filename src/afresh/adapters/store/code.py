"""The port `CodeStore` in one SQLite file. It is a projection: whatever is wrong with it, it is thrown away and made again."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection

from afresh.adapters.store import code_packing as packing
from afresh.adapters.store.code_packing import Terms, numbers_in, packed
from afresh.adapters.store.code_schema import CODE
from afresh.adapters.store.code_sweep import insert, tidy
from afresh.adapters.store.database import Database
from afresh.domain.code import Content, Listing, Reading, Taken, Term
from afresh.errors import Broken, Damaged

MANY = 32
"""New contents that are packed at once."""
ASKED = 500
"""Values of one question."""
KEY = 16
Texts = tuple[str, str]
"""A reading without what is large in it, and that."""
RUN_OF = "SELECT run FROM posting WHERE segment = ? AND kind = ? AND first <= ? ORDER BY first DESC LIMIT 1"


class SqliteCode:
    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        self._database, self._now = Database(path, schema=CODE), now
        self._loose: dict[int, Terms] = {}
        self._current = False

    def listing(self, tree: str) -> Listing | None:
        self._current = False
        try:
            with self._reading() as connection:
                row = connection.execute("SELECT stamps, keys, numbers, lengths FROM tree WHERE name = ?", (tree,)).fetchone()
                return _listing(*row) if row else None
        except Damaged:
            return None

    def keep(self, tree: str, listing: Listing) -> None:
        row = (
            listing.stamps.encode("utf-8", "surrogateescape"),
            bytes.fromhex("".join(listing.keys)),
            packed(content.number for content in listing.contents),
            packed(content.length for content in listing.contents),
        )
        with self._guarded(), self._database.writing(sum(map(len, row))) as connection:
            connection.execute(
                "INSERT OR REPLACE INTO tree (name, used, stamps, keys, numbers, lengths) VALUES (?, ?, ?, ?, ?, ?)",
                (tree, self._now(), *row),
            )
            tidy(connection, self._now())

    def add(self, wanted: Mapping[str, Callable[[], Taken]]) -> Mapping[str, Content]:
        self._current = False
        with self._reading() as connection:
            found = _known(connection, wanted)
        lacking = {key: take() for key, take in wanted.items() if key not in found}
        if lacking:
            texts = {key: (packing.bare(taken.reading), packing.rest(taken.reading)) for key, taken in lacking.items()}
            payload = sum(len(bare) + 2 * len(rest) for bare, rest in texts.values())
            with self._guarded(), self._database.writing(payload) as connection:
                found |= _known(connection, lacking)  # another process may have been faster
                found |= self._insert(connection, {key: taken for key, taken in lacking.items() if key not in found}, texts)
        return found

    def readings(self, numbers: Sequence[int], bare: bool = False) -> Mapping[int, Reading]:
        columns = "number, bare" if bare else "number, bare, rest"
        with self._reading() as connection:
            found = {
                number: packing.unpacked(*texts)
                for number, *texts in _chosen(connection, f"SELECT {columns} FROM content WHERE number IN", numbers)
            }
        return {number: found[number] for number in numbers}

    def saying(self, term: Term, name: str) -> Mapping[int, int]:
        with self._reading() as connection:
            found = self._said_loosely(connection, term, name)
            for (segment,) in connection.execute("SELECT number FROM segment").fetchall():
                row = connection.execute(RUN_OF, (segment, term.value, name)).fetchone()
                numbers = json.loads(row[0]).get(name) if row else None
                found |= packing.counts(term, numbers) if numbers else {}
        return found

    def close(self) -> None:
        self._database.close()

    def _insert(self, connection: Connection, new: Mapping[str, Taken], texts: Mapping[str, Texts]) -> dict[str, Content]:
        (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'content'").fetchone()
        found = {key: Content(last + at, sum(taken.words.values())) for at, (key, taken) in enumerate(new.items(), 1)}
        now = self._now()
        rows = ((one.number, bytes.fromhex(key), one.length, now, *texts[key]) for key, one in found.items())
        connection.executemany("INSERT INTO content (number, key, length, since, bare, rest) VALUES (?, ?, ?, ?, ?, ?)", rows)
        if len(new) >= MANY:
            insert(
                connection, packing.inverted((found[key].number, packing.terms(taken)) for key, taken in new.items()), len(new)
            )
        else:
            few = ((found[key].number, packing.loose(taken)) for key, taken in new.items())
            connection.executemany("INSERT INTO loose (content, terms) VALUES (?, ?)", few)
        return found

    def _said_loosely(self, connection: Connection, term: Term, name: str) -> dict[int, int]:
        if not self._current:
            there = {number for (number,) in connection.execute("SELECT content FROM loose")}
            self._loose = {number: self._loose[number] for number in there & self._loose.keys()}
            lacking = sorted(there - self._loose.keys())
            rows = _chosen(connection, "SELECT content, terms FROM loose WHERE content IN", lacking)
            self._loose |= {number: packing.loosened(plain) for number, plain in rows}
            self._current = True
        if term is Term.WORD:
            return {number: said[name] for number, (said, _, _) in self._loose.items() if name in said}
        place = 1 if term is Term.MENTION else 2
        return {number: 1 for number, found in self._loose.items() if name in found[place]}

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._guarded(), self._database.reading() as connection:
            yield connection

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """A file that is damaged or says what was never written into it is thrown away; whoever asked does without it."""
        try:
            yield
        except (Damaged, Broken, ValueError, TypeError) as error:
            self._throw_away()
            raise Damaged("the index of code is damaged", next="nothing: it is made again", safe="all code") from error

    def _throw_away(self) -> None:
        self._database.close()
        self._loose, self._current = {}, False
        for suffix in ("", "-wal", "-shm"):
            self._database.path.with_name(self._database.path.name + suffix).unlink(missing_ok=True)


def _listing(stamps: bytes, keys: bytes, numbers: bytes, lengths: bytes) -> Listing:
    contents = [Content(number, length) for number, length in zip(numbers_in(numbers), numbers_in(lengths), strict=True)]
    plain = keys.hex()
    cut = [plain[at : at + 2 * KEY] for at in range(0, len(plain), 2 * KEY)]
    return Listing(stamps.decode("utf-8", "surrogateescape"), cut, contents)


def _known(connection: Connection, keys: Iterable[str]) -> dict[str, Content]:
    wanted = [bytes.fromhex(key) for key in keys]
    rows = _chosen(connection, "SELECT key, number, length FROM content WHERE key IN", wanted)
    return {key.hex(): Content(number, length) for key, number, length in rows}


def _chosen(connection: Connection, question: str, values: Sequence[int] | Sequence[bytes]) -> Iterator[tuple]:
    """The rows of a question that ends in `IN`, for any number of values."""
    for first in range(0, len(values), ASKED):
        some = values[first : first + ASKED]
        yield from connection.execute(f"{question} ({', '.join('?' * len(some))})", tuple(some))
