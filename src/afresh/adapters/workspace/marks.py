"""Marks of files by which a later look sees that nothing changed, as git's index has them."""

import os
import stat
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

RECENT_NANOSECONDS = 2_000_000_000
"""Nanoseconds: a file written so shortly ago may be written again without a change of its times."""


def stamp_files(root: Path, names: Sequence[str]) -> Mapping[str, str]:
    """Of what is there. One that was written just now gets a mark that no later look repeats."""
    now, top = time.time_ns(), f"{root}/"
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = stamp_from_stat(os.lstat(top + name), now)
        except OSError:
            continue  # gone since
    return found


def stamp_from_stat(found: os.stat_result, now: int) -> str:
    if not stat.S_ISREG(found.st_mode):
        return f"kind {stat.S_IFMT(found.st_mode)}"
    written, changed = found.st_mtime_ns, found.st_ctime_ns
    told = f"{hash((found.st_size, written, changed, found.st_ino, found.st_dev)):x}"
    return told if max(written, changed) < now - RECENT_NANOSECONDS else f"{told} {now}"
