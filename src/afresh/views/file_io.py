"""Writes files that can be rebuilt: replaced whole or appended to, never through a link. No fsync: only the journal must be
durable."""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from errno import EISDIR, ELOOP
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from stat import S_ISREG
from threading import get_native_id
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from afresh.errors import BadInput

_SAFE_OPEN_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW
_PLAIN_NAME_PATTERN = re.compile(r"[A-Za-z0-9_-]+")


def file_name_from_task(task: str) -> str:
    """Return a task's id as a file name without dots, so that `a.2.md` is always part 2 of `a`."""
    return task if _PLAIN_NAME_PATTERN.fullmatch(task) else quote(task, safe="").replace(".", "%2E")


def replace_file(path: Path, text: str) -> None:
    """Replace a file atomically."""
    spare = path.with_name(f".{path.name}.{get_native_id()}")
    try:
        _write_text(spare, text, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.replace(spare, path)
    except FileNotFoundError:
        make_folder(path.parent)
        _write_text(spare, text, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.replace(spare, path)
    except OSError:
        spare.unlink(missing_ok=True)
        raise


_SPARE_NAME_PATTERN = re.compile(r"\..+\.([0-9]{1,10})")
"""What `replace_file` writes before it renames: a dot, the name, the thread (of a process with one: its number)."""
SPARE_AGE_SECONDS = 3_600
"""No file takes so long to write: its process has another job now, or ran on another machine."""


def clear_stale_files(*folders: Path) -> None:
    """Delete temporary files of writers that were killed. A living writer whose file goes writes it again."""
    for path in find_stale_files(*folders):
        path.unlink(missing_ok=True)


def find_stale_files(*folders: Path) -> list[Path]:
    paths: list[Path] = []
    for folder in folders:
        for name in _list_names(folder):
            spare = _SPARE_NAME_PATTERN.fullmatch(name)
            if spare and _is_stale(folder / name, int(spare[1])):
                paths.append(folder / name)
    return paths


def _list_names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_stale(path: Path, process: int) -> bool:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    if not S_ISREG(status.st_mode):
        return False
    return not is_process_alive(process) or time.time() - status.st_mtime > SPARE_AGE_SECONDS


def is_process_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def append_text(path: Path, text: str) -> None:
    try:
        _write_text(path, text, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    except FileNotFoundError:
        make_folder(path.parent)
        _write_text(path, text, os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def make_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)


def refuse_symlinks(*folders: Path) -> None:
    """Raise if a folder of ours is a symbolic link: a repository could ship one to have other files overwritten or deleted."""
    for folder in folders:
        if folder.is_symlink():
            raise BadInput(
                f"{folder} is a symbolic link", next="remove the link and try again", safe="nothing was written through it"
            )


def read_text_file(path: Path) -> str:
    """Return the text, or an empty string if there is no regular file; the file is then rebuilt."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | _SAFE_OPEN_FLAGS), encoding="utf-8", newline="") as file:
            return file.read() if S_ISREG(os.fstat(file.fileno()).st_mode) else ""
    except (FileNotFoundError, UnicodeDecodeError):
        return ""
    except OSError as error:
        if error.errno in (ELOOP, EISDIR):
            return ""
        raise


def read_last_line(path: Path) -> dict[str, Any] | None:
    """Return the last line of a log with its number `n` and journal place `seq`; both 0 without a log, None if it is torn."""
    try:
        with open(os.open(path, os.O_RDONLY | _SAFE_OPEN_FLAGS), "rb") as log:
            tail = _read_tail(log.fileno())
    except FileNotFoundError:
        tail = b""
    if not tail:
        return {"n": 0, "seq": 0, "kind": "", "follows": []}
    try:
        line = json.loads(tail)
        return (
            line | {"n": int(line["n"]), "seq": int(line["seq"]), "follows": [*line["follows"]]} if tail.endswith(b"\n") else None
        )
    except (ValueError, KeyError, TypeError):
        return None


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Allow one writer at a time across processes."""
    make_folder(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _SAFE_OPEN_FLAGS, 0o644)
    try:
        flock(descriptor, LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def hold_mark(folder: Path, name: str) -> Iterator[None]:
    """Keep a locked file there until the end; if the process is killed, it stays there unlocked."""
    make_folder(folder)
    path = folder / f"{name}.{uuid4().hex}"
    hidden = path.with_name(f".{name}.{get_native_id()}")
    descriptor = os.open(hidden, os.O_RDWR | os.O_CREAT | _SAFE_OPEN_FLAGS, 0o644)
    try:
        flock(descriptor, LOCK_EX)
        os.rename(hidden, path)  # only now, so that nobody sees it unlocked
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


@contextmanager
def take_dead_marks(folder: Path) -> Iterator[set[str]]:
    """The names of the marks that killed processes left. They go when the block ends without an error."""
    taken = dict[Path, int]()
    try:
        for path in (folder / name for name in _list_names(folder) if not name.startswith(".")):
            with suppress(FileNotFoundError, BlockingIOError), ExitStack() as undo:
                descriptor = os.open(path, os.O_RDWR | _SAFE_OPEN_FLAGS)
                undo.callback(os.close, descriptor)
                flock(descriptor, LOCK_EX | LOCK_NB)
                undo.pop_all()
                taken[path] = descriptor
        yield {path.stem for path in taken}
        for path in taken:
            path.unlink(missing_ok=True)
    finally:
        for descriptor in taken.values():
            os.close(descriptor)


def _read_tail(file: int) -> bytes:
    end, reach = os.fstat(file).st_size, 2048
    while True:
        start = max(0, end - reach)
        data = os.pread(file, end - start, start)
        cut = data[:-1].rfind(b"\n")
        if cut >= 0 or start == 0:
            return data[cut + 1 :]
        reach *= 8


def _write_text(path: Path, text: str, flags: int) -> None:
    data = text.encode()
    file = os.open(path, flags | _SAFE_OPEN_FLAGS, 0o644)
    try:
        if os.write(file, data) != len(data):
            raise OSError(f"{path} was written only in part: is the disk full?")
    finally:
        os.close(file)
