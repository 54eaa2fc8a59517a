"""The Files port: text files of the task's tree.

Text is UTF-8, or else Latin-1, which maps every byte to a character and back, so that an edit leaves other bytes as they were
and no text is ever one that a journal can't hold. A file whose every line ends in CRLF is read with plain newlines and written
back with CRLF; mixed line ends are left as they are.
"""

import difflib
import os
import secrets
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from afresh.adapters.workspace.confine import Place, inside
from afresh.adapters.workspace.marks import marks
from afresh.errors import ModelMistake

LARGEST = 2_000_000
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class TreeFiles:
    root: Path
    listing: Callable[[], Sequence[str]]
    """Names of the files that are tracked or new, sorted."""

    def paths(self) -> Sequence[str]:
        return self.listing()

    def stamps(self) -> Mapping[str, str]:
        return marks(self.root, self.listing())

    def read(self, path: str) -> str:
        try:
            with inside(self.root, path) as place:
                return _text(path, content(path, place))
        except FileNotFoundError:
            raise ModelMistake(f"no such file: {path!r}{self._near(path)}") from None

    def write(self, path: str, text: str) -> None:
        """Replace the file in one move, keeping its mode, encoding and line ends; folders are made as needed."""
        with inside(self.root, path, create=True) as place:
            data = _encoded(path, text, _existing(path, place))
            if len(data) > LARGEST:
                raise ModelMistake(f"{path} would have {len(data):,} bytes; at most {LARGEST:,} can be written")
            try:
                _replace(place, data)
            except PermissionError as error:
                raise ModelMistake(f"{path} can't be written: {error.strerror}") from error

    def _near(self, path: str) -> str:
        known = self.listing()
        base = path.rpartition("/")[2]
        same_name = [name for name in known if name.rpartition("/")[2] == base]
        close = difflib.get_close_matches(path, known, n=3, cutoff=0.7)
        near = list(dict.fromkeys([*same_name[:3], *close]))[:4]
        return f"; near matches: {', '.join(near)}" if near else "; `search` finds files by their content"


def content(path: str, place: Place) -> bytes:
    """All of a regular file. FileNotFoundError if there is none, ModelMistake for what can't be read as one."""
    try:
        handle = os.open(place.name, READ, dir_fd=place.folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ModelMistake(f"{path} can't be opened: {error.strerror}") from error
    try:
        _refuse_no_text_file(path, handle)
        return b"".join(iter(lambda: os.read(handle, LARGEST), b""))
    finally:
        os.close(handle)


def _refuse_no_text_file(path: str, handle: int) -> None:
    found = os.fstat(handle)
    if stat.S_ISDIR(found.st_mode):
        held = sorted(os.listdir(handle))
        raise ModelMistake(f"{path} is a folder; it holds {len(held)} entries: {_clean(', '.join(held[:20]))}")
    if not stat.S_ISREG(found.st_mode):
        raise ModelMistake(f"{path} is not a regular file but a pipe, socket or device")
    if found.st_size > LARGEST:
        raise ModelMistake(f"{path} has {found.st_size:,} bytes, over the {LARGEST:,} that can be read; search in it")


def _text(path: str, data: bytes) -> str:
    if b"\0" in data:
        raise ModelMistake(f"{path} is a binary file of {len(data):,} bytes")
    text = _decoded(data)
    return text.replace("\r\n", "\n") if _ends_in_crlf(text) else text


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _ends_in_crlf(text: str) -> bool:
    return "\r\n" in text and text.count("\r\n") == text.count("\n") == text.count("\r")


def _existing(path: str, place: Place) -> bytes:
    """What the file holds now; nothing for one that is new, binary or too large to have been read."""
    try:
        data = content(path, place)
    except FileNotFoundError:
        return b""
    except ModelMistake:
        if stat.S_ISREG(os.stat(place.name, dir_fd=place.folder, follow_symlinks=False).st_mode):
            return b""
        raise
    return b"" if b"\0" in data else data


def _encoded(path: str, text: str, existing: bytes) -> bytes:
    before = _decoded(existing)
    if _ends_in_crlf(before):
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    try:
        latin = bool(existing) and before.encode() != existing
        return text.encode("latin-1" if latin else "utf-8")
    except UnicodeEncodeError as error:
        odd = _clean(text[error.start])
        raise ModelMistake(f"{path} is kept in {error.encoding}, which has no character {odd!r}; use an escape for it") from None


def _replace(place: Place, data: bytes) -> None:
    beside = f".afresh-{secrets.token_hex(6)}"
    try:
        mode = stat.S_IMODE(os.stat(place.name, dir_fd=place.folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        mode = None
    handle = os.open(beside, CREATE, 0o666, dir_fd=place.folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if mode is not None:
                os.fchmod(handle, mode)
        os.rename(beside, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except BaseException:
        os.unlink(beside, dir_fd=place.folder)
        raise


def _clean(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()
