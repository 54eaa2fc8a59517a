"""Journals and archived texts as lines of JSON. An entry stands there to the byte as it was hashed."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from afresh.core import block, hash_chain
from afresh.core.codec import to_canonical_json
from afresh.core.event import JournalEntry, JournalHead
from afresh.errors import Damaged
from afresh.storage.export.check_types import find_type_mismatch
from afresh.storage.export.manifest import EXPORT_AGAIN_ADVICE, NOTHING_CHANGED_NOTE, JournalExtent
from afresh.storage.sqlite.blocks import find_block_ids

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


@dataclass(frozen=True, slots=True)
class ExportFile:
    """A file of an export, for telling what is wrong with it."""

    path: str

    def wrong(self, line: int, what: str) -> Damaged:
        return Damaged(f"{self.path}:{line}: {what}", next=EXPORT_AGAIN_ADVICE, safe=NOTHING_CHANGED_NOTE)


def parse_entries(data: bytes, place: ExportFile, task: str, extent: JournalExtent) -> Iterator[JournalEntry]:
    """The entries that count, each believed only if it continues the chain and belongs to this journal."""
    head = JournalHead()
    for number, line in _split_lines(data, place, extent.entries):
        body, hash = (
            line[len(ENTRY_PREFIX) : -len(HASH_PREFIX) - HASH_DIGITS - len(ENTRY_SUFFIX)],
            line[-HASH_DIGITS - len(ENTRY_SUFFIX) : -len(ENTRY_SUFFIX)],
        )
        if line != f"{ENTRY_PREFIX}{body}{HASH_PREFIX}{hash}{ENTRY_SUFFIX}":
            raise place.wrong(number, "is not an entry with its hash")
        entry = _parse_entry(body, head, hash, place, number)
        if (entry.task, entry.seq) != (task, number):
            raise place.wrong(number, f"is entry {entry.seq} of {entry.task!r}; entry {number} of {task!r} belongs here")
        head = JournalHead(entry.seq, entry.hash)
        yield entry
    if (head.seq, head.hash) != (extent.entries, extent.head):
        raise place.wrong(head.seq, f"ends with {head.hash[:12]}; the export should end with {extent.head[:12]}")


def _parse_entry(body: str, before: JournalHead, hash: str, place: ExportFile, number: int) -> JournalEntry:
    try:
        entry = hash_chain.read_entry(body, before, hash)
        wrong = find_type_mismatch(entry.at, float) or find_type_mismatch(entry.event, type(entry.event))
    except Damaged as fault:
        raise place.wrong(number, fault.what) from None
    except DECODE_ERRORS as fault:
        raise place.wrong(number, f"can't be understood: {type(fault).__name__} {fault}") from None
    if wrong:
        raise place.wrong(number, f"can't be understood: {wrong.removesuffix('.value')} is of another kind than it should be")
    if ESCAPED_SURROGATE.search(body):
        raise place.wrong(number, "holds half a character")
    return entry


def parse_blocks(data: bytes, place: ExportFile) -> dict[str, str]:
    """Texts by name, each believed only if it is what its name says."""
    found: dict[str, str] = {}
    for number, line in _split_lines(data, place):
        try:
            plain = json.loads(line)
            name, text = plain["id"], plain["text"]
            sound = isinstance(text, str) and block.block_id_from_text(text) == name
        except DECODE_ERRORS as fault:
            raise place.wrong(number, f"can't be understood: {type(fault).__name__} {fault}") from None
        if not sound:
            raise place.wrong(number, f"block {str(name)[:32]} is not named by its content")
        found[name] = text
    return found


def check_blocks_present(told: Iterable[JournalEntry], held: dict[str, str], place: ExportFile, extent: JournalExtent) -> None:
    """Every block that an entry names is there, but those that were missing before."""
    there = held.keys() | set(extent.missing)
    for entry in told:
        if absent := [name for name in find_block_ids(entry.body) if name not in there]:
            raise place.wrong(entry.seq, f"entry {entry.seq} names block {absent[0]}, which the export does not hold")


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


def _split_lines(data: bytes, place: ExportFile, count: int | None = None) -> Iterator[tuple[int, str]]:
    """Numbered from 1. The first `count` of them must be there; what follows is of an export that did not come to its end."""
    *whole, rest = data.split(b"\n")
    if rest and (count is None or len(whole) < count):
        raise place.wrong(len(whole) + 1, "the line is cut off")
    if count is not None and len(whole) < count:
        raise place.wrong(len(whole), f"the file ends here; it should have {count} lines")
    for number, line in enumerate(whole[:count], 1):
        try:
            yield number, line.decode()
        except UnicodeDecodeError as fault:
            raise place.wrong(number, f"is not UTF-8: {fault.reason}") from None
