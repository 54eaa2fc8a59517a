"""Opening a path inside a folder and nowhere else.

Every component is opened relative to the one before it and never through a link, so that a folder swapped for a link between
check and use can't lead outside. Links that stay inside are followed by hand.
"""

import errno
import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from afresh.core.text import is_encodable
from afresh.errors import ModelMistake

OPEN_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MAX_LINKS = 40
MAX_PATH_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class ConfinedPath:
    """An open folder and a name in it that is not a link. `path` is where that is, from the root."""

    folder: int
    name: str
    path: str


def is_readable_path(path: str) -> bool:
    """Whether the name of a file can be in a prompt and a journal: UTF-8, and not too long."""
    return len(path) <= MAX_PATH_CHARACTERS and is_encodable(path)


def split_relative_path(path: str) -> list[str]:
    """The parts of a relative path that may be asked for. ModelMistake for any other."""
    if not path or "\0" in path:
        raise ModelMistake("the path is empty or holds a NUL character; give a path relative to the root of the project")
    if path.startswith("/"):
        raise ModelMistake(f"{_truncate_path(path)} is absolute; give a path relative to the root of the project")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ModelMistake(f"{_truncate_path(path)} holds '..'; give a path relative to the root of the project")
    try:
        longest = max((len(part.encode()) for part in parts), default=0)
    except UnicodeEncodeError:
        raise ModelMistake("the path holds a lone surrogate, which no file name can") from None
    if len(path) > MAX_PATH_CHARACTERS or longest > 255:
        raise ModelMistake(f"the path is too long: {_truncate_path(path)}")
    if not parts:
        raise ModelMistake(f"{path} is the root folder, not a file")
    return parts


@contextmanager
def open_path_inside(root: Path, path: str, create: bool = False) -> Iterator[ConfinedPath]:
    """Where `path` leads, with its folder held open. Missing folders on the way are made if `create`."""
    with ExitStack() as stack:
        parts = split_relative_path(path)
        for end in range(len(parts)):
            _refuse_private_path(parts[: end + 1])  # before any folder is made; links are looked at again on the way
        yield _Walk(path, root, stack, create).arrive(parts)


class _Walk:
    def __init__(self, path: str, root: Path, held: ExitStack, create: bool) -> None:
        self.path, self.held, self.create = path, held, create
        self.folders = [self._hold(os.open(root, OPEN_FOLDER_FLAGS))]
        self.names: list[str] = []
        self.links = 0

    def arrive(self, parts: Sequence[str]) -> ConfinedPath:
        pending = deque(parts)
        while pending:
            part = pending.popleft()
            if part == "..":
                self._up()
                continue
            _refuse_private_path([*self.names, part])
            target = self._link(part)
            if target is not None:
                pending.extendleft(reversed([piece for piece in target.split("/") if piece not in ("", ".")]))
            elif not pending:
                return ConfinedPath(self.folders[-1], part, "/".join([*self.names, part]))
            else:
                self._down(part)
        raise ModelMistake(f"{_truncate_path(self.path)} is a folder, not a file")

    def _link(self, part: str) -> str | None:
        try:
            target = os.readlink(part, dir_fd=self.folders[-1])
        except OSError:
            return None
        self.links += 1
        if self.links > MAX_LINKS:
            raise ModelMistake(f"{_truncate_path(self.path)} is a circle of links")
        if target.startswith("/"):
            raise _make_outside_error(self.path)
        return target

    def _up(self) -> None:
        if not self.names:
            raise _make_outside_error(self.path)
        self.names.pop()
        self.folders.pop()

    def _down(self, part: str) -> None:
        if self.create:
            with suppress(OSError):
                os.mkdir(part, dir_fd=self.folders[-1])
        try:
            handle = os.open(part, OPEN_FOLDER_FLAGS, dir_fd=self.folders[-1])
        except OSError as error:
            raise self._unopened(part, error) from error
        self.folders.append(self._hold(handle))
        self.names.append(part)

    def _unopened(self, part: str, error: OSError) -> Exception:
        if error.errno == errno.ENOENT:
            return FileNotFoundError(self.path)
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            return ModelMistake(f"{'/'.join([*self.names, part])} is not a folder, so {_truncate_path(self.path)} can't be in it")
        return ModelMistake(f"{_truncate_path(self.path)} can't be opened: {error.strerror}")

    def _hold(self, handle: int) -> int:
        self.held.callback(os.close, handle)
        return handle


def _refuse_private_path(names: Sequence[str]) -> None:
    if names[-1].lower() == ".git":
        raise ModelMistake("git's own files can't be read or written; the harness keeps the history")
    if [name.lower() for name in names[:2]] == [".afresh", "state"]:
        raise ModelMistake("the state of afresh can't be read or written")


def _make_outside_error(path: str) -> ModelMistake:
    return ModelMistake(f"{_truncate_path(path)} is a link that leads outside the project; only files inside it can be used")


def _truncate_path(path: str) -> str:
    return repr(path if len(path) <= 120 else path[:117] + "...")
