"""Blocks: raw material named by its content, each kept once."""

from collections.abc import Sequence
from sqlite3 import Connection

from afresh.adapters.store.packing import packed, unpacked
from afresh.domain.chain import block_id
from afresh.domain.fact import Block
from afresh.errors import Broken, Damaged

SHORTEST_PREFIX, WHOLE = 6, 32
DIGITS = frozenset("0123456789abcdef")


def keep(connection: Connection, blocks: Sequence[Block]) -> None:
    """Write those that are not there yet."""
    named = {block.id: block.text for block in blocks}
    for name in _missing(connection, list(named)) if named else ():
        if block_id(named[name]) != name:
            raise Broken(f"block {name} is not named by its content")
        connection.execute("INSERT INTO block (id, body) VALUES (?, ?)", (bytes.fromhex(name), packed(named[name])))


def _missing(connection: Connection, names: list[str]) -> list[str]:
    marks = ",".join("?" * len(names))
    rows = connection.execute(f"SELECT id FROM block WHERE id IN ({marks})", [bytes.fromhex(name) for name in names])
    here = {row[0].hex() for row in rows}
    return [name for name in names if name not in here]


def read(connection: Connection, name: str) -> str:
    """The block of this id, or the only one whose id begins so. KeyError if there is none, or more than one."""
    if not SHORTEST_PREFIX <= len(name) <= WHOLE or not DIGITS.issuperset(name):
        raise KeyError(name)
    first, last = bytes.fromhex(name.ljust(WHOLE, "0")), bytes.fromhex(name.ljust(WHOLE, "f"))
    rows = connection.execute("SELECT id, body FROM block WHERE id BETWEEN ? AND ? LIMIT 2", (first, last)).fetchall()
    if len(rows) != 1:
        raise KeyError(name)
    return _believed(rows[0][0].hex(), rows[0][1])


def _believed(name: str, body: str | bytes) -> str:
    try:
        text = unpacked(body)
    except ValueError:
        text = None
    if text is None or block_id(text) != name:
        raise Damaged(
            f"block {name} does not match its name any more",
            next="restore the database from a backup; the task can go on without it",
            safe="the journal and all other blocks",
        )
    return text
