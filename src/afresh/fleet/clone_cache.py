"""Where a worker keeps its clones: a folder that no other process uses, taken by a lock on a file, and used again later."""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from afresh.storage.choose_storage import PROJECT_GIT_SETTING
from afresh.storage.postgres.storage import hash_project_key
from afresh.workspace.git_remote import clone_or_update

MAX_SLOTS = 1_024


def find_cache_folder() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("afresh") / "fleet"


@contextmanager
def take_clone_folder(cache: Path) -> Iterator[Path]:
    """The first folder that no living process has. The lock ends with the process."""
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in range(MAX_SLOTS):
        lock = os.open(cache / f"{number}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            continue
        try:
            folder = cache / str(number)
            folder.mkdir(mode=0o700, exist_ok=True)
            yield folder
        finally:
            os.close(lock)
        return
    raise OSError(f"{cache} has {MAX_SLOTS} folders, and all are in use")


def bring_clone(folder: Path, key: str, name: str, remote: str) -> Path:
    """The project's clone in this folder, at the remote's default branch as it is now."""
    readable = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)[:40]
    readable = readable if readable.strip(".") else "project"  # ".." would lead to the clones of others
    place = folder / hash_project_key(key) / readable  # the name of a checkout's folder is the project's
    clone_or_update(remote, place, {PROJECT_GIT_SETTING: key})
    return place
