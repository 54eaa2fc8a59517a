"""Journals and archived texts as lines of JSON. An entry stands there to the byte as it was hashed."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from afresh.core import hash_chain
from afresh.core.archived_block import block_id_from_text, find_block_ids
from afresh.core.codec import to_canonical_json
from afresh.core.event import JournalEntry, JournalHead
from afresh.errors import Damaged
from afresh.storage.export.check_types import find_type_mismatch
from afresh.storage.export.manifest import JournalExtent, make_export_error

ENTRY_PREFIX = '{"entry":'
HASH_PREFIX = ',"hash":"'
ENTRY_SUFFIX = '"}'
HASH_DIGITS = 64
ESCAPED_SURROGATE = re.compile(r"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")
"""An escaped surrogate: no text that was ever hashed has one, and none can be stored."""
DECODE_ERRORS = (ValueError, TypeError, KeyError, AttributeError, AssertionError, RecursionError)
"""What reading raises where somebody has made up entries that hold together and mean nothing."""


def render_entry_line(entry: JournalEntry) -> str:
    return f"{ENTRY_PREFIX}{entry.body}{HASH_PREFIX}{entry.hash}{ENTRY_SUFFIX}\n"


def render_block_line(name: str, text: str) -> str:
    return f'{{"id":"{name}","text":{to_canonical_json(text)}}}\n'


def parse_entries(data: bytes, path: Path, task: str, extent: JournalExtent) -> Iterator[JournalEntry]:
    """The entries that count, each believed only if it continues the chain and belongs to this journal."""
    head = JournalHead()
    for number, line in _split_lines(data, path, extent.entries):
        body, hash = (
            line[len(ENTRY_PREFIX) : -len(HASH_PREFIX) - HASH_DIGITS - len(ENTRY_SUFFIX)],
            line[-HASH_DIGITS - len(ENTRY_SUFFIX) : -len(ENTRY_SUFFIX)],
        )
        if line != f"{ENTRY_PREFIX}{body}{HASH_PREFIX}{hash}{ENTRY_SUFFIX}":
            raise make_export_error(path, "is not an entry with its hash", number)
        entry = _parse_entry(body, head, hash, path, number)
        if (entry.task, entry.seq) != (task, number):
            raise make_export_error(
                path, f"is entry {entry.seq} of {entry.task!r}; entry {number} of {task!r} belongs here", number
            )
        head = JournalHead(entry.seq, entry.hash)
        yield entry
    if (head.seq, head.hash) != (extent.entries, extent.head):
        raise make_export_error(path, f"ends with {head.hash[:12]}; the export should end with {extent.head[:12]}", head.seq)


def _parse_entry(body: str, before: JournalHead, hash: str, path: Path, number: int) -> JournalEntry:
    try:
        entry = hash_chain.read_entry(body, before, hash)
        wrong = find_type_mismatch(entry.at, float) or find_type_mismatch(entry.event, type(entry.event))
    except Damaged as fault:
        raise make_export_error(path, fault.what, number) from None
    except DECODE_ERRORS as fault:
        raise make_export_error(path, f"can't be understood: {type(fault).__name__} {fault}", number) from None
    if wrong:
        raise make_export_error(
            path, f"can't be understood: {wrong.removesuffix('.value')} is of another kind than it should be", number
        )
    if ESCAPED_SURROGATE.search(body):
        raise make_export_error(path, "holds half a character", number)
    return entry


def parse_blocks(data: bytes, path: Path) -> dict[str, str]:
    """Texts by name, each believed only if it is what its name says."""
    found: dict[str, str] = {}
    for number, line in _split_lines(data, path):
        try:
            plain = json.loads(line)
            name, text = plain["id"], plain["text"]
            sound = isinstance(text, str) and block_id_from_text(text) == name
        except DECODE_ERRORS as fault:
            raise make_export_error(path, f"can't be understood: {type(fault).__name__} {fault}", number) from None
        if not sound:
            raise make_export_error(path, f"block {str(name)[:32]} is not named by its content", number)
        found[name] = text
    return found


def check_blocks_present(told: Iterable[JournalEntry], held: dict[str, str], path: Path, extent: JournalExtent) -> None:
    """Every block that an entry names is there, but those that were missing before."""
    there = held.keys() | set(extent.missing)
    for entry in told:
        if absent := [name for name in find_block_ids(entry.body) if name not in there]:
            raise make_export_error(path, f"entry {entry.seq} names block {absent[0]}, which the export does not hold", entry.seq)


def render_named_blocks(told: Iterable[JournalEntry], read: Callable[[str], str]) -> tuple[list[str], list[str]]:
    """Lines for the blocks that entries name, in that order; and the names for which the archive has nothing."""
    lines: list[str] = []
    missing: list[str] = []
    for name in dict.fromkeys(name for entry in told for name in find_block_ids(entry.body)):
        try:
            lines.append(render_block_line(name, read(name)))
        except KeyError:
            missing.append(name)
    return lines, missing


def _split_lines(data: bytes, path: Path, count: int | None = None) -> Iterator[tuple[int, str]]:
    """Numbered from 1. The first `count` of them must be there; what follows is of an export that did not come to its end."""
    *whole, rest = data.split(b"\n")
    if rest and (count is None or len(whole) < count):
        raise make_export_error(path, "the line is cut off", len(whole) + 1)
    if count is not None and len(whole) < count:
        raise make_export_error(path, f"the file ends here; it should have {count} lines", len(whole))
    for number, line in enumerate(whole[:count], 1):
        try:
            yield number, line.decode()
        except UnicodeDecodeError as fault:
            raise make_export_error(path, f"is not UTF-8: {fault.reason}", number) from None
