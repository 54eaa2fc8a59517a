"""Files of the copy: lines that are appended under a lock, read from their end, and cut where they are torn or damaged."""

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from afresh.core.archived_block import block_id_from_text
from afresh.core.event import JournalHead
from afresh.core.hash_chain import hash_entry
from afresh.core.task import check_task_id
from afresh.errors import BadInput
from afresh.storage.export.read_export import ENTRY_LINE
from afresh.workspace.disk_files import refuse_symlinks

COPY_FOLDERS = ("journals", "blocks")
ORDER_FILE = "order.jsonl"
"""The id of each task, in the order in which they were added."""
SAFE_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW
FIRST_READ_BYTES = 4_096


def make_folders(folder: Path) -> None:
    """BadInput if one of them is a link."""
    places = (folder, *(folder / name for name in COPY_FOLDERS))
    refuse_symlinks(*places)
    if not places[-1].is_dir():
        for place in places:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        append_lines(folder / ORDER_FILE, b"")  # also of a project that has only rules: the file says that this is a copy


@contextmanager
def open_for_append(path: Path) -> Iterator[int]:
    """One writer at a time, across processes. OSError if the path is a link or no plain file."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | SAFE_FLAGS, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise BadInput(f"{path} is not a plain file", next="remove it", safe="nothing was written to it")
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)


def append_at(file: int, end: int, data: bytes) -> None:
    """Write from there on, in the place of what a killed writer or a damaged disk has left."""
    os.ftruncate(file, end)
    while data:
        written = os.pwrite(file, data, end)
        end, data = end + written, data[written:]


def append_lines(path: Path, data: bytes) -> None:
    """Write after the last whole line."""
    with open_for_append(path) as file:
        append_at(file, _find_end_of_lines(file), data)


def replace_lines(path: Path, data: bytes) -> None:
    with open_for_append(path) as file:
        found = _read_all(file)
        kept = min(len(found), len(data)) if found[: len(data)] == data[: len(found)] else 0
        append_at(file, kept, data[kept:])


def read_lines(path: Path) -> bytes:
    """Empty if there is no plain file."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | SAFE_FLAGS)
    except OSError:
        return b""
    try:
        return _read_all(file) if stat.S_ISREG(os.fstat(file).st_mode) else b""
    finally:
        os.close(file)


def _read_all(file: int) -> bytes:
    size, parts, at = os.fstat(file).st_size, list[bytes](), 0
    while at < size and (part := os.pread(file, size - at, at)):
        parts.append(part)
        at += len(part)
    return b"".join(parts)


def _find_end_of_lines(file: int) -> int:
    size, reach = os.fstat(file).st_size, FIRST_READ_BYTES
    while size:
        start = max(0, size - reach)
        cut = os.pread(file, size - start, start).rfind(b"\n")
        if cut >= 0:
            return start + cut + 1
        if start == 0:
            return 0
        reach *= 8
    return 0


def read_last_lines(file: int, most: int) -> list[bytes]:
    """The last whole lines, without reading more of the file than a few times their length."""
    end, reach = _find_end_of_lines(file), FIRST_READ_BYTES
    while True:
        start = max(0, end - reach)
        lines = os.pread(file, end - start, start).split(b"\n")[:-1]
        if start == 0 or len(lines) > most:
            return lines[-most:]
        reach *= 4


def read_tail(file: int) -> tuple[JournalHead, int]:
    """Where the journal in the file ends, and the bytes up to there: by its last whole line, or if that is no entry, where its
    chain of hashes ends."""
    lines = read_last_lines(file, 1)
    head = _read_head(lines[-1]) if lines else JournalHead()
    return (head, _find_end_of_lines(file)) if head else find_chain_of_file(file)


def find_chain_of_file(file: int) -> tuple[JournalHead, int]:
    return find_chain(_read_all(file))


def _read_head(line: bytes) -> JournalHead | None:
    try:
        match = ENTRY_LINE.fullmatch(line.decode())
        return JournalHead(int(json.loads(match[1])["seq"]), match[2]) if match else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def find_chain(data: bytes) -> tuple[JournalHead, int]:
    """How far the lines are a chain of hashes, and the bytes up to there."""
    head, length = JournalHead(), 0
    for line in data.split(b"\n")[:-1]:
        try:
            match = ENTRY_LINE.fullmatch(line.decode())
        except UnicodeDecodeError:
            match = None
        if match is None or hash_entry(head.hash, match[1]) != match[2]:
            break
        head, length = JournalHead(head.seq + 1, match[2]), length + len(line) + 1
    return head, length


def read_texts(data: bytes) -> dict[str, str | None]:
    """Archived texts by their id, without lines that are damaged; None: nobody had the text when it was named."""
    texts = dict[str, str | None]()
    for line in data.split(b"\n"):
        try:
            plain = json.loads(line)
            name, text = plain["id"], plain["text"]
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        if not isinstance(name, str) or not (text is None or _is_text_of(text, name)):
            continue
        if text is not None or name not in texts:
            texts[name] = text
    return texts


def _is_text_of(text: object, name: str) -> bool:
    try:
        return isinstance(text, str) and block_id_from_text(text) == name
    except UnicodeEncodeError:  # half a character, which no archived text has
        return False


def has_texts(data: bytes, wanted: bytes) -> bool:
    """Whether all texts are there. A writer that was killed may have left some twice."""
    return data == wanted or read_texts(wanted).items() <= read_texts(data).items()


def list_copied_tasks(folder: Path) -> list[str]:
    """Tasks that have a journal here, in the order of the queue."""
    try:
        names = [name.removesuffix(".jsonl") for name in os.listdir(folder / "journals") if name.endswith(".jsonl")]
    except OSError:
        return []
    order = {task: place for place, task in enumerate(read_order(folder))}
    return sorted(filter(_is_task_id, names), key=lambda task: (order.get(task, len(order)), task))


def read_order(folder: Path) -> list[str]:
    return parse_order(read_lines(folder / ORDER_FILE))


def parse_order(data: bytes) -> list[str]:
    """The ids in the lines; lines that are damaged are passed over."""
    tasks = list[str]()
    for line in data.split(b"\n"):
        try:
            tasks.append(str(json.loads(line)))
        except (ValueError, RecursionError):
            continue
    return list(dict.fromkeys(tasks))


def _is_task_id(name: str) -> bool:
    try:
        return bool(check_task_id(name))
    except BadInput:
        return False
