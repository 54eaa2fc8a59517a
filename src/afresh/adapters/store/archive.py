"""Blocks: raw material named by its content, each kept once. The new blocks of a commit are packed together."""

import re
from collections.abc import Sequence
from sqlite3 import Connection

from afresh.adapters.store.packing import packed, unpacked
from afresh.domain.chain import block_id
from afresh.domain.fact import Block
from afresh.errors import Broken, Damaged

SHORTEST_PREFIX = 6
WHOLE = 32
MOST_FOUND = 8
LONG = 1024
"""Characters from which a pack is compressed; shorter ones would save less than a page."""
DIGITS = frozenset("0123456789abcdef")
NAME = re.compile(r'"([0-9a-f]{32})"')


def named(body: str) -> list[str]:
    """What in entries can be the name of a block: every text of 32 hexadecimal digits, whatever its field is called."""
    return list(dict.fromkeys(NAME.findall(body)))


def claimed(connection: Connection, number: int, seq: int, blocks: Sequence[Block]) -> str | bytes | None:
    """Enter the blocks that are not kept yet as part of record `seq` of a task; what that record must hold of them."""
    new: list[str] = []
    for block in blocks:
        if connection.execute("INSERT OR IGNORE INTO block VALUES (?, ?, ?)", (bytes.fromhex(block.id), number, seq)).rowcount:
            new.append(_true(block))
    return _pack(new) if new else None


def _true(block: Block) -> str:
    if block_id(block.text) != block.id:
        raise Broken(f"block {block.id} is not named by its content")
    return block.text


def _pack(texts: list[str]) -> str | bytes:
    """All texts in one piece, after a line with their lengths: one value to write, and compressed together they are smaller."""
    return packed(" ".join(str(len(text)) for text in texts) + "\n" + "".join(texts), LONG)


def read(connection: Connection, name: str) -> str:
    """The block of this id, or the only one whose id begins so. KeyError if there is none, or more than one."""
    if not _possible(name):
        raise KeyError(name)
    first, last = _range(name)
    rows = connection.execute(
        "SELECT id, blocks FROM block LEFT JOIN record USING (task, seq) WHERE id BETWEEN ? AND ? LIMIT 2", (first, last)
    ).fetchall()
    if len(rows) != 1:
        raise KeyError(name)
    return _text(rows[0][0].hex(), rows[0][1])


def found(connection: Connection, prefix: str, task: str) -> list[str]:
    """Ids that begin so, of blocks that came with a record of this task: the same text of a later task is not kept again."""
    if not _possible(prefix):
        return []
    rows = connection.execute(
        "SELECT block.id FROM block JOIN task ON task.number = block.task WHERE block.id BETWEEN ? AND ? AND task.id = ?"
        " ORDER BY block.id LIMIT ?",
        (*_range(prefix), task, MOST_FOUND),
    )
    return [row[0].hex() for row in rows]


def _possible(name: str) -> bool:
    return SHORTEST_PREFIX <= len(name) <= WHOLE and DIGITS.issuperset(name)


def _range(prefix: str) -> tuple[bytes, bytes]:
    return bytes.fromhex(prefix.ljust(WHOLE, "0")), bytes.fromhex(prefix.ljust(WHOLE, "f"))


def _text(name: str, pack: str | bytes | None) -> str:
    """The text that has this name: no place in the pack is recorded, so that none can be wrong."""
    try:
        lengths, _, texts = unpacked(pack or "").partition("\n")
        start = 0
        for length in map(int, lengths.split()):
            text = texts[start : start + length]
            if block_id(text) == name:
                return text
            start += length
    except ValueError:
        pass
    raise Damaged(
        f"block {name} does not match its name any more",
        next="restore the database from a backup; the task can go on without it",
        safe="the journal and all other blocks",
    )
