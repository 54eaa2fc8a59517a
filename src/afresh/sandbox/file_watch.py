"""Which files of a tree a command opens and writes, as the kernel tells it (inotify).

It needs no rights, sees every language, and sees through mounts. Folders that the command makes are not followed.
"""

import ctypes
import os
import re
import select
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from afresh.core.action import FileAccess, RunManner
from afresh.sandbox.mounts import Mounts

MAX_WATCHED_FOLDERS = 20_000
_OPENED = 0x20
_WRITTEN = 0x2 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200
"""Modified, closed after writing, moved from and to, created, deleted."""
_ABOUT_FOLDER = 0x40000000
_OVERFLOW = 0x4000
_ONLY_FOLDERS_NO_LINKS = 0x01000000 | 0x02000000
_NONBLOCKING_CLOSE_ON_EXEC = 0x800 | 0x80000
_HEADER = struct.Struct("iIII")
_CACHED_MODULE = re.compile(r"__pycache__/([^/]+?)\.[\w-]+(?:\.opt-\d)?\.pyc$")
_LIBC = ctypes.CDLL(None, use_errno=True)


class FileWatch:
    """Reads the kernel's notices in its own thread: their queue holds only some thousand."""

    def __init__(self) -> None:
        self.access: FileAccess | None = None
        """The files that were opened; None until it is stopped."""
        self._gap = ""
        self._queue, self._end = -1, -1
        self._places: dict[int, str] = {}
        self._seen: set[tuple[int, int, bytes]] = set()
        self._reader = Thread(target=self._follow, name="file watch", daemon=True)

    def start(self, tree: Path, without: Sequence[str], files: Sequence[str]) -> None:
        self._queue, self._end = _LIBC.inotify_init1(_NONBLOCKING_CLOSE_ON_EXEC), os.eventfd(0)
        if self._queue < 0:
            self._gap = f"files could not be watched ({os.strerror(ctypes.get_errno())})"
            return
        for folder in _list_folders(tree, {".git", *without}):
            if len(self._places) >= MAX_WATCHED_FOLDERS or not self._add(
                tree, folder, _OPENED | _WRITTEN | _ONLY_FOLDERS_NO_LINKS
            ):
                self._gap = f"only {len(self._places):,} folders could be watched"
                break
        for file in files:
            self._add(tree, file, _WRITTEN)  # by another name, too: a hard link
        self._reader.start()

    def _add(self, tree: Path, name: str, events: int) -> bool:
        number = _LIBC.inotify_add_watch(self._queue, os.fsencode(tree / name), ctypes.c_uint32(events))
        self._places.setdefault(number, name)
        return number >= 0 or ctypes.get_errno() != 28  # no room left: any other folder is gone, or not ours to see

    def _follow(self) -> None:
        waiting = select.poll()
        for descriptor in (self._queue, self._end):
            waiting.register(descriptor, select.POLLIN)
        ended = False
        while not ended:
            ended = any(descriptor == self._end for descriptor, _ in waiting.poll())
            self._read()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._queue, 1 << 18)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                number, events, _, length = _HEADER.unpack_from(data, at)
                at += _HEADER.size + length
                self._seen.add((number, events, data[at - length : at]))

    def stop(self) -> None:
        if self._end < 0:
            return
        if self._reader.is_alive():
            os.eventfd_write(self._end, 1)
            self._reader.join()
        for descriptor in (self._queue, self._end):
            if descriptor >= 0:
                os.close(descriptor)
        opened, written = set[str](), set[str]()
        for number, events, name in self._seen:
            if events & _OVERFLOW:
                self._gap = "more was opened and written than the kernel could tell"
                continue
            path = "/".join(filter(None, (self._places[number], os.fsdecode(name.rstrip(b"\0")))))
            if events & _WRITTEN:
                written.add(path)
            elif events & _OPENED and not events & _ABOUT_FOLDER:
                opened.add(_CACHED_MODULE.sub(r"\1.py", path))
        self.access = FileAccess(frozenset(opened), frozenset(written), self._gap)


def _list_folders(tree: Path, without: set[str]) -> Iterator[str]:
    """The root first, as an empty name; `without` are paths that are left out with all below them."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        yield folder
        try:
            entries = os.scandir(tree / folder)
        except OSError:
            continue
        with entries:
            below = [os.path.join(folder, entry.name) for entry in entries if entry.is_dir(follow_symlinks=False)]
        waiting += [path for path in below if path not in without]


@contextmanager
def watch_files(mounts: Mounts, manner: RunManner) -> Iterator[FileWatch]:
    """A watch over the task's tree, from before a command starts until after it has ended."""
    watch = FileWatch()
    if manner.watched:
        watch.start(mounts.tree, mounts.environments, manner.fixed)
    try:
        yield watch
    finally:
        watch.stop()
