"""Up to which change of the database the copy is complete, so that a process looks only at what came after."""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import get_native_id

from afresh.storage.export import copy_files
from afresh.storage.sql.call_turns import read_time_since_boot

MARK_FILE = "copied.json"
FLUSH_SECONDS = 60.0
"""What was written so long ago is on the disk: kernels wait half as long."""


@dataclass(frozen=True, slots=True)
class CopyMark:
    identity: str
    """Of the database."""
    number: int = 0
    boot: str = ""
    flushed: int = 0
    """The number that is on the disk even after a power cut; and the one that will be when `at` is long enough ago."""
    waiting: int = 0
    at: float = 0.0
    """Seconds since the machine was started."""

    def find_start(self) -> int:
        """Changes after this one are to be looked at. The machine may have lost power since it was started the last time."""
        boot, _ = read_time_since_boot()
        return self.number if boot == self.boot else self.flushed

    def move_on(self, number: int) -> "CopyMark":
        boot, now = read_time_since_boot()
        if boot != self.boot:
            return replace(self, number=number, boot=boot, waiting=number, at=now)
        if now - self.at >= FLUSH_SECONDS:
            return replace(self, number=number, flushed=self.waiting, waiting=number, at=now)
        return replace(self, number=number)


def read_copy_mark(folder: Path) -> CopyMark | None:
    """None if there is none, or it can't be understood: then everything is looked at."""
    try:
        mark = CopyMark(**json.loads(copy_files.read_lines(folder / MARK_FILE)))
        return mark if 0 <= mark.flushed <= mark.number else None
    except (ValueError, TypeError):
        return None


def write_copy_mark(folder: Path, mark: CopyMark) -> None:
    """In one move, since readers take no lock."""
    spare = folder / f".{MARK_FILE}.{get_native_id()}"  # threads of a pool share the process
    copy_files.replace_lines(spare, f"{json.dumps(asdict(mark))}\n".encode())
    os.replace(spare, folder / MARK_FILE)
