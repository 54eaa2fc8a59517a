"""Blocks: raw material named by its content, each kept once. The new blocks of a commit are packed together."""

import zlib
from collections.abc import Sequence

from afresh.core.archived_block import Block, block_id_from_text
from afresh.errors import WAY_BACK, Broken, Damaged
from afresh.storage.sql.database import SqlConnection

COMPRESSION_LEVEL = 1
"""Level 6 saves another tenth of the bytes and takes twice as long."""
MIN_COMPRESSED_CHARACTERS = 100
SMALL_TEXT_BYTES = 16_384


TEXT_MARK = b"\0"
"""Before a text that is not compressed, where a column holds bytes only: no compressed one begins so."""


def compress_text(text: str, shortest: int = MIN_COMPRESSED_CHARACTERS) -> str | bytes:
    """SQLite keeps the type of a value, so that TEXT is plain and BLOB is compressed."""
    if len(text) < shortest:
        return text
    plain = text.encode()
    small = _compress(plain)
    return small if len(small) < len(plain) else text


def _compress(plain: bytes) -> bytes:
    if len(plain) > SMALL_TEXT_BYTES:
        return zlib.compress(plain, COMPRESSION_LEVEL)
    # A window of 4 KB loses nothing on short texts, and spares the kernel from mapping a quarter of a megabyte for each.
    compressor = zlib.compressobj(COMPRESSION_LEVEL, zlib.DEFLATED, wbits=12)
    return compressor.compress(plain) + compressor.flush()


def decompress_text(kept: str | bytes) -> str:
    """ValueError if it is damaged: zlib carries a checksum."""
    if isinstance(kept, str):
        return kept
    if kept.startswith(TEXT_MARK):
        return kept[1:].decode()
    try:
        return zlib.decompress(kept).decode()
    except zlib.error as fault:
        raise ValueError(str(fault)) from fault


MIN_BLOCK_PREFIX_DIGITS = 6
BLOCK_ID_DIGITS = 32
MAX_FOUND_BLOCKS = 8
COMPRESS_PACK_FROM_CHARACTERS = 1024
"""Characters from which a pack is compressed; shorter ones would save less than a page."""
INSERT_BLOCKS_SQL = "INSERT INTO block (id, task, seq) VALUES"
BLOCKS_PER_STATEMENT = 32
HEX_DIGITS = frozenset("0123456789abcdef")


def claim_blocks(connection: SqlConnection, number: int, seq: int, blocks: Sequence[Block]) -> str | bytes | None:
    """Enter the blocks that are not kept yet as part of record `seq` of a task; what that record must hold of them. One statement
    for many blocks: each is a way to the server and back."""
    new: list[str] = []
    for start in range(0, len(blocks), BLOCKS_PER_STATEMENT):
        some = {bytes.fromhex(block.id): block for block in blocks[start : start + BLOCKS_PER_STATEMENT]}
        statement = f"{INSERT_BLOCKS_SQL} {', '.join(['(?, ?, ?)'] * len(some))} ON CONFLICT DO NOTHING RETURNING id"
        rows = connection.execute(statement, [value for name in some for value in (name, number, seq)])
        taken = {name for (name,) in rows.fetchall()}
        new += [_verify_block_text(block) for name, block in some.items() if name in taken]
    return _pack_texts(new) if new else None


def _verify_block_text(block: Block) -> str:
    if block_id_from_text(block.text) != block.id:
        raise Broken(f"block {block.id} is not named by its content")
    return block.text


def _pack_texts(texts: list[str]) -> str | bytes:
    """All texts in one piece, after a line with their lengths: one value to write, and compressed together they are smaller."""
    return compress_text(" ".join(str(len(text)) for text in texts) + "\n" + "".join(texts), COMPRESS_PACK_FROM_CHARACTERS)


def read_block(connection: SqlConnection, name: str) -> str:
    """The block of this id, or the only one whose id begins so. KeyError if there is none, or more than one."""
    if not _is_block_id_prefix(name):
        raise KeyError(name)
    first, last = _block_id_range(name)
    rows = connection.execute(
        "SELECT id, blocks FROM block LEFT JOIN record USING (task, seq) WHERE id BETWEEN ? AND ? LIMIT 2", (first, last)
    ).fetchall()
    if len(rows) != 1:
        raise KeyError(name)
    return _find_text_in_pack(rows[0][0].hex(), rows[0][1])


def find_blocks(connection: SqlConnection, prefix: str, task: str) -> list[str]:
    """Ids that begin so, of blocks that came with a record of this task: the same text of a later task is not kept again."""
    if not _is_block_id_prefix(prefix):
        return []
    rows = connection.execute(
        "SELECT block.id FROM block JOIN task ON task.number = block.task WHERE block.id BETWEEN ? AND ? AND task.id = ?"
        " ORDER BY block.id LIMIT ?",
        (*_block_id_range(prefix), task, MAX_FOUND_BLOCKS),
    )
    return [row[0].hex() for row in rows]


def _is_block_id_prefix(name: str) -> bool:
    return MIN_BLOCK_PREFIX_DIGITS <= len(name) <= BLOCK_ID_DIGITS and HEX_DIGITS.issuperset(name)


def _block_id_range(prefix: str) -> tuple[bytes, bytes]:
    return bytes.fromhex(prefix.ljust(BLOCK_ID_DIGITS, "0")), bytes.fromhex(prefix.ljust(BLOCK_ID_DIGITS, "f"))


def _find_text_in_pack(name: str, pack: str | bytes | None) -> str:
    """The text that has this name: no place in the pack is recorded, so that none can be wrong."""
    try:
        lengths, _, texts = decompress_text(pack or "").partition("\n")
        start = 0
        for length in map(int, lengths.split()):
            text = texts[start : start + length]
            if block_id_from_text(text) == name:
                return text
            start += length
    except ValueError:
        pass
    raise Damaged(
        f"block {name} no longer matches its hash",
        next=f"the task can continue without it; {WAY_BACK}",
        safe="the journal and all other blocks are intact",
    )
