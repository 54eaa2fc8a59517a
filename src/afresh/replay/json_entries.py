"""Reads JSON values from a file, one at a time, with the place of each. What is broken is named and passed over."""

import gzip
import json
import zlib
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from afresh.errors import BadInput

CHUNK_BYTES = 1 << 20
MAX_PROBED_LINES = 64
"""Lines that may be broken before a file is taken for one document, which has to be read whole."""

ONLY_READ_NOTE = "The file was only read."
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTANDARD_MAGIC = b"\x28\xb5\x2f\xfd"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

NumberedLine = tuple[int, bytes]


@dataclass(frozen=True, slots=True)
class JsonEntry:
    """One value of a file. `problem` says what was wrong with it; the value is None if it can't be read."""

    where: str
    value: Any = None
    problem: str = ""


def read_entries(path: Path) -> Generator[JsonEntry]:
    """Every line of a file of JSON lines, every item of a list, or the one value that the file holds."""
    faults: list[str] = []
    lines = ((number, line) for number, line in enumerate(_split_lines(_read_chunks(path, faults)), 1) if line.strip())
    head = list(islice(lines, MAX_PROBED_LINES))
    if not head:
        raise BadInput(f"{path} is empty", next="give another file", safe=ONLY_READ_NOTE)
    if any(b"\0" in line for _, line in head) and all(_read_line(line).value is None for line in head):
        raise BadInput(f"{path} is a binary file", next="give a file with a recorded session", safe=ONLY_READ_NOTE)
    yield from (_read_line(line) for line in chain(head, lines)) if _are_values(head) else _read_document([*head, *lines])
    yield from (JsonEntry("the end", None, fault) for fault in faults)


def _read_chunks(path: Path, faults: list[str]) -> Iterator[bytes]:
    """The bytes of a file, unpacked. An error after the first bytes is added to `faults` and ends the reading."""
    begun = False
    try:
        with path.open("rb") as raw, _open_unpacked(raw, path) as file:
            while chunk := file.read1(CHUNK_BYTES):
                yield chunk if begun else chunk.removeprefix(_BYTE_ORDER_MARK)
                begun = True
    except (OSError, EOFError, zlib.error) as fault:
        if not begun:
            raise BadInput(
                f"{path} can't be read: {fault}", next="check the file and its permissions", safe=ONLY_READ_NOTE
            ) from fault
        faults.append(f"what follows can't be read: {fault}")


def _open_unpacked(raw: BinaryIO, path: Path) -> Any:
    head = raw.read(4)
    raw.seek(0)
    if head.startswith(_GZIP_MAGIC):
        return gzip.GzipFile(fileobj=raw)
    if head != _ZSTANDARD_MAGIC:
        return raw
    try:
        from compression import zstd  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise BadInput(
            f"{path} is compressed with zstd", next=f"decompress it first: zstd -d {path}", safe=ONLY_READ_NOTE
        ) from None
    return zstd.ZstdFile(raw)


def _split_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        held.append(first)
        for other in others:
            yield b"".join(held)
            held = [other]
    yield b"".join(held)


def _are_values(head: list[NumberedLine]) -> bool:
    """Whether each line is a value of its own. A document over several lines has no whole one on its first line.

    Of a list with an item a line, only the last can be taken for a value: the others have a comma behind them.
    """
    if len(head) == 1:
        return False
    if _read_line(head[0]).value is not None:
        return True
    whole = sum(line.startswith(b"{") and _read_line((number, line)).value is not None for number, line in head[1:])
    return whole > head[0][1].lstrip().startswith(b"[")


def _read_document(lines: list[NumberedLine]) -> Iterator[JsonEntry]:
    json_entry = _parse_entry(b"\n".join(line for _, line in lines), "the document")
    if json_entry.value is None and len(lines) > 1:
        yield from map(_read_line, lines)
    elif isinstance(json_entry.value, list):
        yield from (JsonEntry(f"entry {number}", value) for number, value in enumerate(json_entry.value, 1))
        if json_entry.problem:
            yield JsonEntry("the document", None, json_entry.problem)
    else:
        yield json_entry


def _read_line(line: NumberedLine) -> JsonEntry:
    return _parse_entry(line[1], f"line {line[0]}")


def _parse_entry(data: bytes, where: str) -> JsonEntry:
    problem = ""
    try:
        text = data.decode()
    except UnicodeDecodeError as fault:
        text, problem = data.decode(errors="replace"), f"not UTF-8 ({fault.reason})"
    try:
        return JsonEntry(where, json.loads(text, strict=False), problem)
    except RecursionError:
        return JsonEntry(where, None, "nested too deep")
    except ValueError as fault:
        wrong = f"not whole JSON ({getattr(fault, 'msg', fault)})"
        return JsonEntry(where, None, ", ".join(filter(None, (problem, wrong))))
