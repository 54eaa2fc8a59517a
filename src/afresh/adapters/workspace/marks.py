"""Marks of files by which a later look sees that nothing changed, as git's index has them."""

import os
import stat
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

RECENT = 2_000_000_000
"""Nanoseconds: a file written so shortly ago may be written again without a change of its times."""


def marks(root: Path, names: Sequence[str]) -> Mapping[str, str]:
    """Of regular files only. One that was written just now gets a mark that no later look repeats."""
    now = time.time_ns()
    top = f"{root}/"
    return {name: mark(os.lstat(top + name), now) for name in names if os.path.lexists(top + name)}


def mark(found: os.stat_result, now: int) -> str:
    if not stat.S_ISREG(found.st_mode):
        return f"kind {stat.S_IFMT(found.st_mode)}"
    changed = max(found.st_mtime_ns, found.st_ctime_ns)
    recent = f" {now}" if changed > now - RECENT else ""
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}{recent}"
