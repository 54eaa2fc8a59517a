"""Files and folders on disk: making them accessible, removing them, replacing files so that a crash leaves no half of one."""

import fcntl
import os
import secrets
import stat
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_native_id
from typing import AnyStr

from afresh.errors import BadInput


def walk_tree(top: AnyStr) -> Iterator[list[os.DirEntry[AnyStr]]]:
    """The entries of each folder, however deep; links are not followed. What the kernel refuses to list, such as a path that is
    too long, is left out."""
    waiting = [top]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as scandir_iterator:
            entries = list(scandir_iterator)
            yield entries
            waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]


def make_accessible(top: Path) -> None:
    """Give the owner back the rights that a command may have taken from files and folders; links are not followed."""
    if not os.geteuid():
        return
    _grant_rights(top)
    for entries in walk_tree(str(top)):
        for entry in entries:
            _grant_rights(entry)


def _grant_rights(place: Path | os.DirEntry[str]) -> None:
    mode = os.lstat(place).st_mode
    rights = stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR | stat.S_IWUSR
    if not stat.S_ISLNK(mode) and mode & rights != rights:
        os.chmod(place, stat.S_IMODE(mode) | rights)


def remove_tree(top: Path) -> None:
    """Remove a folder, however deep, also one whose folders were made read-only. Each folder in it is moved to the top and
    emptied there, so that no path becomes too long; after a crash in the middle the rest can be removed again."""
    if top.is_symlink():
        top.unlink()
    if not top.exists():
        return
    waiting, number, prefix = [str(top)], 0, f"{top}/.gone-{secrets.token_hex(6)}-"
    _grant_rights(top)
    while waiting:
        folder = waiting.pop()
        for entry in list(os.scandir(folder)):
            if entry.is_dir(follow_symlinks=False):
                number += 1
                _grant_rights(entry)  # one that can't be written can't be moved
                os.rename(entry.path, f"{prefix}{number}")
                waiting.append(f"{prefix}{number}")
            else:
                os.unlink(entry.path)
        if folder != str(top):
            os.rmdir(folder)
    top.rmdir()


def list_parents(name: str) -> list[str]:
    """The folders that a name is in, innermost first."""
    parents = list[str]()
    while name := name.rpartition("/")[0]:
        parents.append(name)
    return parents


def remove_all_but(top: Path, files: Container[str], folders: Container[str]) -> None:
    """Remove what is not a file or link of one of these names in one of these folders. A file with a second name goes, too: what
    is written to one would change the other."""
    open_folders = [""]
    while open_folders:
        within = open_folders.pop()
        for entry in list(os.scandir(top / within)):
            name = f"{within}/{entry.name}" if within else entry.name
            if entry.is_dir(follow_symlinks=False):
                if name in folders:
                    open_folders.append(name)
                else:
                    remove_tree(Path(entry.path))
            elif name not in files or entry.stat(follow_symlinks=False).st_nlink > 1:
                os.unlink(entry.path)


def has_link_on_path(top: Path, name: str) -> bool:
    """Whether a folder on the way from `top` to `name` is a symlink."""
    place = top
    for part in name.split("/")[:-1]:
        place = place / part
        if place.is_symlink():
            return True
    return False


def clear_path(top: Path, name: str) -> None:
    """Remove what is at `name`, or a link or file in the place of a folder on the way to it."""
    place = top
    for part in name.split("/"):
        place = place / part
        if place.is_symlink() or not place.is_dir():
            place.unlink(missing_ok=True)
            return
    remove_tree(place)


TEMPORARY_PREFIX = ".new-"
"""Names of files that are being written; a killed process may leave one behind."""


def replace_file(place: Path, data: bytes, new_rights: int = 0o644) -> None:
    """Write a file in one move: readers see the old content or the new one. It keeps its mode, and no link is followed."""
    spare = place.with_name(f"{TEMPORARY_PREFIX}{get_native_id()}-{place.name}")
    mode = place.lstat().st_mode if os.path.lexists(place) else 0
    rights = stat.S_IMODE(mode) if stat.S_ISREG(mode) else new_rights
    try:
        with open(os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, rights), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        spare.replace(place)
    except OSError:
        spare.unlink(missing_ok=True)
        raise


def write_durable_file(place: Path, text: str, new_rights: int = 0o644) -> None:
    """All of it or nothing, and on disk when this returns."""
    replace_file(place, text.encode(), new_rights)
    sync_folder(place.parent)


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def refuse_symlinks(*paths: Path) -> None:
    """BadInput if any of these is a symbolic link; what does not exist is fine."""
    for path in paths:
        if path.is_symlink():
            raise BadInput(
                f"{path} is a symbolic link; afresh does not write its state through one",
                next=f"remove the link, or replace it by a real {'file' if path.suffix else 'folder'}",
                safe="nothing was read or written through it",
            )


@contextmanager
def hold_file_lock(path: Path) -> Iterator[None]:
    """Wait until no other process holds it. The kernel frees the lock of a process that ends; the file stays."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
