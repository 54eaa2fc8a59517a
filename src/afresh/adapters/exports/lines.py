"""Journals and archived texts as lines of JSON. An entry stands there to the byte as it was hashed."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from afresh.adapters.exports.layout import AGAIN, UNCHANGED, Extent
from afresh.adapters.store.archive import named
from afresh.domain import chain
from afresh.domain.codec import dumps
from afresh.domain.conform import misfit
from afresh.domain.event import Entry, Head
from afresh.errors import Damaged

BEGIN = '{"entry":'
MIDDLE = ',"hash":"'
END = '"}'
HASH = 64
HALF = re.compile(r"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")
"""An escaped surrogate: no text that was ever hashed has one, and none can be stored."""
NONSENSE = (ValueError, TypeError, KeyError, AttributeError, AssertionError, RecursionError)
"""What reading raises where somebody has made up entries that hold together and mean nothing."""


def entry_line(entry: Entry) -> str:
    return f"{BEGIN}{entry.body}{MIDDLE}{entry.hash}{END}\n"


def block_line(name: str, text: str) -> str:
    return f'{{"id":"{name}","text":{dumps(text)}}}\n'


@dataclass(frozen=True, slots=True)
class Place:
    """A file of an export, for telling what is wrong with it."""

    path: str

    def wrong(self, line: int, what: str) -> Damaged:
        return Damaged(f"{self.path}:{line}: {what}", next=AGAIN, safe=UNCHANGED)


def entries(data: bytes, place: Place, task: str, extent: Extent) -> Iterator[Entry]:
    """The entries that count, each believed only if it continues the chain and belongs to this journal."""
    head = Head()
    for number, line in _lines(data, place, extent.entries):
        body, hash = line[len(BEGIN) : -len(MIDDLE) - HASH - len(END)], line[-HASH - len(END) : -len(END)]
        if line != f"{BEGIN}{body}{MIDDLE}{hash}{END}":
            raise place.wrong(number, "is not an entry with its hash")
        entry = _entry(body, head, hash, place, number)
        if (entry.task, entry.seq) != (task, number):
            raise place.wrong(number, f"is entry {entry.seq} of {entry.task!r}; entry {number} of {task!r} belongs here")
        head = Head(entry.seq, entry.hash)
        yield entry
    if (head.seq, head.hash) != (extent.entries, extent.head):
        raise place.wrong(head.seq, f"ends with {head.hash[:12]}; the export should end with {extent.head[:12]}")


def _entry(body: str, before: Head, hash: str, place: Place, number: int) -> Entry:
    try:
        entry = chain.read(body, before, hash)
        wrong = misfit(entry.at, float) or misfit(entry.event, type(entry.event))
    except Damaged as fault:
        raise place.wrong(number, fault.what) from None
    except NONSENSE as fault:
        raise place.wrong(number, f"can't be understood: {type(fault).__name__} {fault}") from None
    if wrong:
        raise place.wrong(number, f"can't be understood: {wrong.removesuffix('.value')} is of another kind than it should be")
    if HALF.search(body):
        raise place.wrong(number, "holds half a character")
    return entry


def blocks(data: bytes, place: Place) -> dict[str, str]:
    """Texts by name, each believed only if it is what its name says."""
    found: dict[str, str] = {}
    for number, line in _lines(data, place):
        try:
            plain = json.loads(line)
            name, text = plain["id"], plain["text"]
            sound = isinstance(text, str) and chain.block_id(text) == name
        except NONSENSE as fault:
            raise place.wrong(number, f"can't be understood: {type(fault).__name__} {fault}") from None
        if not sound:
            raise place.wrong(number, f"block {str(name)[:32]} is not named by its content")
        found[name] = text
    return found


def complete(told: Iterable[Entry], held: dict[str, str], place: Place, extent: Extent) -> None:
    """Every block that an entry names is there, but those that were missing before."""
    there = held.keys() | set(extent.missing)
    for entry in told:
        if absent := [name for name in named(entry.body) if name not in there]:
            raise place.wrong(entry.seq, f"entry {entry.seq} names block {absent[0]}, which the export does not hold")


def named_blocks(told: Iterable[Entry], read: Callable[[str], str]) -> tuple[list[str], list[str]]:
    """Lines for the blocks that entries name, in that order; and the names for which the archive has nothing."""
    lines: list[str] = []
    missing: list[str] = []
    for name in dict.fromkeys(name for entry in told for name in named(entry.body)):
        try:
            lines.append(block_line(name, read(name)))
        except KeyError:
            missing.append(name)
    return lines, missing


def _lines(data: bytes, place: Place, count: int | None = None) -> Iterator[tuple[int, str]]:
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
