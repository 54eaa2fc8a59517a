"""Watches what a command, and its task, write to the disk: the sum of bytes and the number of files, which no limit of the kernel
bounds."""

import os
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from afresh.sandbox.resource_limits import ResourceLimits, list_process_tree

WRITTEN = " written"
"""In each reason that is found here."""
SUSPECT_SHARE = 4
"""A file system that has lost a quarter of the limit is looked at closely."""
SUSPECT_SHARE_AT_END = 256
"""Many short commands are a long one."""
TASK_LEEWAY = 1 << 20
"""Bytes that a command can still write, or 100 files, when its task has written all that it may: it may be there to delete."""
TASK_LEEWAY_FILES = 100
PAUSE_PER_LOOK = 20
"""A close look may take one part in twenty of the time."""
CLOCK_GRANULE_SECONDS = 0.02
"""Times of files come from a coarse clock, which is behind by up to a tick."""
BLOCK_BYTES = 512
"""Unit of `st_blocks`, whatever the file system."""


class DiskWatch:
    """Asks the file system for its free room, which costs nothing. Files that were changed since the command began are counted
    only when room was lost, and now and then, since somebody else may have made room meanwhile."""

    def __init__(self, folders: Sequence[Path], limits: ResourceLimits, marker: Path | None = None) -> None:
        """`marker`: a file that was written when the task began, beside the snapshots that its commands lead to."""
        self._folders, self._limits = folders, limits
        self._began = self._task_began = time.time() - CLOCK_GRANULE_SECONDS
        if marker and marker.exists():
            self._task_began, self._folders = marker.stat().st_mtime, (*folders, marker.parent / "objects")
        self._free = self._read_free_room()
        self._next_look = time.monotonic() + 1.0

    def find_excess(self, process: int, at_end: bool = False) -> str:
        """Say what is over its limit; empty if nothing is. `process`: the command's first one."""
        room, files = self._read_free_room()
        share = SUSPECT_SHARE_AT_END if at_end else SUSPECT_SHARE
        suspect = self._free[0] - room > self._limits.written // share or self._free[1] - files > self._limits.files // share
        if not suspect and (at_end or time.monotonic() < self._next_look):
            return ""
        began = time.monotonic()
        (written, count), (task_written, task_count) = self._count_changed(process)
        self._next_look = time.monotonic() + 1.0 + PAUSE_PER_LOOK * (time.monotonic() - began)
        limits = self._limits
        if written > limits.written:
            return f"more than {limits.written >> 20:,} MB{WRITTEN}"
        if count > limits.files:
            return f"more than {limits.files:,} files{WRITTEN}"
        if task_written > limits.task_written and written > TASK_LEEWAY:
            return f"more than {limits.task_written >> 20:,} MB{WRITTEN} by all commands of the task"
        if task_count > limits.task_files and count > TASK_LEEWAY_FILES:
            return f"more than {limits.task_files:,} files{WRITTEN} by all commands of the task"
        return ""

    def _read_free_room(self) -> tuple[int, int]:
        """Free bytes and free files of the file systems, each counted once."""
        room, files, seen = 0, 0, set[int]()
        for folder in self._folders:
            with suppress(OSError):
                device, result = os.stat(folder).st_dev, os.statvfs(folder)
                if device not in seen:
                    room, files = room + result.f_bfree * result.f_frsize, files + result.f_ffree
                seen.add(device)
        return room, files

    def _count_changed(self, process: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Bytes and number of files that were made or changed since the command began, with those that have no name any more; and
        since the task began."""
        total, count, task_total, task_count = 0, 0, 0, 0
        waiting = [os.fspath(folder) for folder in self._folders]
        while waiting:
            try:
                entries = list(os.scandir(waiting.pop()))
            except OSError:
                continue
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if stat.S_ISDIR(status.st_mode):
                    waiting.append(entry.path)
                size = status.st_blocks * BLOCK_BYTES
                if status.st_ctime >= self._began:
                    total, count = total + size, count + 1
                if status.st_ctime >= self._task_began:
                    task_total, task_count = task_total + size, task_count + 1
            if count > self._limits.files or total > self._limits.written:
                break
        else:
            total += _measure_nameless_files(process)
        return (total, count), (task_total, task_count)


def _measure_nameless_files(process: int) -> int:
    """Bytes of open files that were deleted, of all processes of the command."""
    found: dict[tuple[int, int], int] = {}
    for member in list_process_tree(process):
        try:
            names = os.listdir(f"/proc/{member}/fd")
        except OSError:
            continue
        for name in names:
            try:
                status = os.stat(f"/proc/{member}/fd/{name}")
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode) and not status.st_nlink:
                found[status.st_dev, status.st_ino] = status.st_blocks * BLOCK_BYTES
    return sum(found.values())
