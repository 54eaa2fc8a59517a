"""Lock files of git that a killed process has left, in places where nobody but afresh writes."""

import re
import time
from pathlib import Path

HELD_LOCK = re.compile(r"Unable to create '([^'\n]+\.lock)': File exists|could not lock config file ([^\n]+): File exists")
OWN_PLACES = ("/shadow/", "/refs/heads/afresh/", "/worktrees/")
"""Snapshots of tasks, their branches, and what a repository knows of their worktrees."""
LOCK_PATIENCE_SECONDS = 2.0
LOOK_SECONDS = 0.05


def read_held_lock(said: str) -> Path | None:
    """The lock file that git has met."""
    found = HELD_LOCK.search(said)
    return Path(found[1] or f"{found[2]}.lock") if found else None


def remove_dead_lock(lock: Path) -> bool:
    """Whether the way is free: somebody has given the lock back, or nobody did anything to it for a while and it was removed."""
    if not any(place in lock.as_posix() for place in OWN_PLACES):
        return False
    first, until = _identify(lock), time.monotonic() + LOCK_PATIENCE_SECONDS
    while first and time.monotonic() < until:
        if _identify(lock) != first:
            return True
        time.sleep(LOOK_SECONDS)
    lock.unlink(missing_ok=True)
    return True


def _identify(lock: Path) -> tuple[int, int, int] | None:
    try:
        found = lock.lstat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
