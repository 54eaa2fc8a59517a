"""The Files port: text files of the task's tree.

Text is UTF-8, or else Latin-1, which maps every byte to a character and back, so that an edit leaves other bytes as they were
and no text is ever one that a journal can't hold. A file whose every line ends in CRLF is read with plain newlines and written
back with CRLF; mixed line ends are left as they are.
"""

import difflib
import os
import secrets
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from afresh.errors import ModelMistake
from afresh.workspace.confined_path import ConfinedPath, open_path_inside

RECENT_NANOSECONDS = 2_000_000_000
"""Nanoseconds: a file written so shortly ago may be written again without a change of its times."""


def stamp_files(root: Path, names: Sequence[str]) -> Mapping[str, str]:
    """Stamps of the files that exist. A file that was written just now gets a stamp that is never repeated."""
    now, top = time.time_ns(), f"{root}/"
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = stamp_from_stat(os.lstat(top + name), now)
        except OSError:
            continue  # gone since
    return found


def stamp_from_stat(status: os.stat_result, now: int) -> str:
    if not stat.S_ISREG(status.st_mode):
        return f"kind {stat.S_IFMT(status.st_mode)}"
    written, changed = status.st_mtime_ns, status.st_ctime_ns
    text = f"{hash((status.st_size, written, changed, status.st_ino, status.st_dev)):x}"
    return text if max(written, changed) < now - RECENT_NANOSECONDS else f"{text} {now}"


MAX_FILE_BYTES = 2_000_000
OPEN_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
OPEN_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class TreeFiles:
    root: Path
    listing: Callable[[], Sequence[str]]
    """Names of the files that are tracked or new, sorted."""
    expect_changes: Callable[[], None] = lambda: None
    """Called before a file is written."""

    def paths(self) -> Sequence[str]:
        return self.listing()

    def stamps(self) -> Mapping[str, str]:
        return stamp_files(self.root, self.listing())

    def read(self, path: str) -> str:
        try:
            with open_path_inside(self.root, path) as place:
                return _text_from_bytes(path, read_content(path, place))
        except FileNotFoundError:
            raise ModelMistake(f"no such file: {path!r}{self._near(path)}") from None

    def write(self, path: str, text: str) -> None:
        """Replace the file in one move, keeping its mode, encoding and line ends; folders are made as needed."""
        self.expect_changes()
        with open_path_inside(self.root, path, create=True) as place:
            data = _encode_like(path, text, _read_existing(path, place))
            if len(data) > MAX_FILE_BYTES:
                raise ModelMistake(f"{path} would have {len(data):,} bytes; at most {MAX_FILE_BYTES:,} can be written")
            try:
                _replace_file(place, data)
            except PermissionError as error:
                raise ModelMistake(f"{path} can't be written: {error.strerror}") from error

    def _near(self, path: str) -> str:
        known = self.listing()
        base = path.rpartition("/")[2]
        same_name = [name for name in known if name.rpartition("/")[2] == base]
        close = difflib.get_close_matches(path, known, n=3, cutoff=0.7)
        near = list(dict.fromkeys([*same_name[:3], *close]))[:4]
        return f"; near matches: {', '.join(near)}" if near else "; `search` finds files by their content"


def read_content(path: str, place: ConfinedPath) -> bytes:
    """All of a regular file. FileNotFoundError if there is none, ModelMistake for what can't be read as one."""
    try:
        handle = os.open(place.name, OPEN_READ_FLAGS, dir_fd=place.folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ModelMistake(f"{path} can't be opened: {error.strerror}") from error
    try:
        _refuse_no_text_file(path, handle)
        return b"".join(iter(lambda: os.read(handle, MAX_FILE_BYTES), b""))
    finally:
        os.close(handle)


def _refuse_no_text_file(path: str, handle: int) -> None:
    status = os.fstat(handle)
    if stat.S_ISDIR(status.st_mode):
        held = sorted(os.listdir(handle))
        raise ModelMistake(f"{path} is a folder; it holds {len(held)} entries: {_escape_surrogates(', '.join(held[:20]))}")
    if not stat.S_ISREG(status.st_mode):
        raise ModelMistake(f"{path} is not a regular file but a pipe, socket or device")
    if status.st_size > MAX_FILE_BYTES:
        raise ModelMistake(f"{path} has {status.st_size:,} bytes, over the {MAX_FILE_BYTES:,} that can be read; search in it")


def _text_from_bytes(path: str, data: bytes) -> str:
    if b"\0" in data:
        raise ModelMistake(f"{path} is a binary file of {len(data):,} bytes")
    text = _decode_bytes(data)
    return text.replace("\r\n", "\n") if _ends_in_crlf(text) else text


def _decode_bytes(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _ends_in_crlf(text: str) -> bool:
    return "\r\n" in text and text.count("\r\n") == text.count("\n") == text.count("\r")


def _read_existing(path: str, place: ConfinedPath) -> bytes:
    """What the file holds now; nothing for one that is new, binary or too large to have been read."""
    try:
        data = read_content(path, place)
    except FileNotFoundError:
        return b""
    except ModelMistake:
        if stat.S_ISREG(os.stat(place.name, dir_fd=place.folder, follow_symlinks=False).st_mode):
            return b""
        raise
    return b"" if b"\0" in data else data


def _encode_like(path: str, text: str, existing: bytes) -> bytes:
    before = _decode_bytes(existing)
    if _ends_in_crlf(before):
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    try:
        latin = bool(existing) and before.encode() != existing
        return text.encode("latin-1" if latin else "utf-8")
    except UnicodeEncodeError as error:
        odd = _escape_surrogates(text[error.start])
        raise ModelMistake(f"{path} is kept in {error.encoding}, which has no character {odd!r}; use an escape for it") from None


def _replace_file(place: ConfinedPath, data: bytes) -> None:
    beside = f".afresh-{secrets.token_hex(6)}"
    try:
        mode = stat.S_IMODE(os.stat(place.name, dir_fd=place.folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        mode = None
    handle = os.open(beside, OPEN_CREATE_FLAGS, 0o666, dir_fd=place.folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if mode is not None:
                os.fchmod(handle, mode)
        os.rename(beside, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except BaseException:
        os.unlink(beside, dir_fd=place.folder)
        raise


def _escape_surrogates(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()
