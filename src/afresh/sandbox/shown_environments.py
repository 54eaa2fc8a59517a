"""Environments of the checkout in a tree that is not mounted: links to them, there only while a command runs.

A command sees them where bubblewrap mounts them, and can't write to what they lead to. The tree itself is writable, so a command
can replace a link. That is found, and such a command does not succeed: nobody knows what it ran then.
"""

import contextlib
import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from afresh.sandbox.command_environment import list_mounted_environments
from afresh.sandbox.mounts import LINKED_NAME, PACKAGE_CACHE_NAMES, PRIVATE_PREFIX, Mounts, find_blocked_folder, make_own_folder

ASIDE_PREFIX = ".aside-"
_REMOVE_FOLDER = ("/bin/sh", "-c", 'chmod -R u+rwX "./$0"; rm -rf "./$0"')
"""Python's own ways end at a thousand folders in each other."""


@contextlib.contextmanager
def show_environments(mounts: Mounts, private: Path) -> Iterator[dict[str, bool]]:
    """Say what the command has replaced, and whether the tree must be put back: a link that it has moved is somewhere in it. Its
    private folder has `shown`, which it can't write to, and `tmp`, which it can."""
    said = dict[str, bool]()
    with contextlib.ExitStack() as links:
        for folder in list_mounted_environments(mounts) if mounts.tree != mounts.at else ():
            name = folder.relative_to(mounts.at)
            target = folder
            if name.name == LINKED_NAME:
                target = _show_packages(mounts, folder, private / "shown" / name, private / "tmp/caches" / name)
            links.enter_context(_show_link(mounts, name, target, said))
        yield said
    if blocked := find_blocked_folder(mounts.tree, (os.path.dirname(name) for name in mounts.environments)):
        said[describe_blocked(blocked)] = True


def describe_blocked(folder: str) -> str:
    return f"the command replaced or shut {folder}, where an environment of the checkout is shown"


@contextlib.contextmanager
def _show_link(mounts: Mounts, name: Path, target: Path, said: dict[str, bool]) -> Iterator[None]:
    """What the tree itself has there is put beside the tree meanwhile, where no command can reach it. The folder of the link is
    held open: a command that puts a link in that folder's place can't lead us elsewhere."""
    holder, aside = remove_left_link(mounts, name).parent, None
    with open_writable(holder) as folder:
        with contextlib.suppress(OSError):
            os.rmdir(name.name, dir_fd=folder)  # the mount point of another level
        if _identify(name.name, folder):
            aside = Path(tempfile.mkdtemp(prefix=ASIDE_PREFIX, dir=mounts.tree.parent))
            os.rename(name.name, aside / name.name, src_dir_fd=folder)
        os.symlink(target, name.name, dir_fd=folder)
        made, held = _identify(name.name, folder), _identify(holder)[:2]
        try:
            yield
        finally:
            moved = _identify(name.name, folder) != made
            if moved or _identify(holder)[:2] != held:
                said[f"the command replaced {name}, which can only be read"] = moved
            remove_entry(name.name, folder)
            if aside:
                os.rename(aside / name.name, name.name, dst_dir_fd=folder)
                aside.rmdir()


@contextlib.contextmanager
def open_writable(path: Path) -> Iterator[int]:
    """A folder that the task may have shut, before or meanwhile."""
    path.chmod(path.stat().st_mode | stat.S_IRWXU)
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield folder
    finally:
        os.close(folder)


def _identify(name: str | Path, folder: int | None = None) -> tuple[int, ...]:
    """A link that was moved away and back has another time of change. Empty if there is nothing."""
    try:
        status = os.lstat(name, dir_fd=folder)
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_ctime_ns


def remove_left_link(mounts: Mounts, name: Path) -> Path:
    """Where an environment is shown, without the link that a killed process has left behind."""
    place = make_own_folder(mounts.tree, str(name.parent)) / name.name
    private = f"{tempfile.gettempdir()}/{PRIVATE_PREFIX}"
    if place.is_symlink() and (os.readlink(place) == str(mounts.at / name) or os.readlink(place).startswith(private)):
        place.unlink()
    return place


def remove_entry(name: str, folder: int) -> None:
    """Remove what an open folder has of this name, also a folder that was shut; no link is followed."""
    os.fchmod(folder, os.fstat(folder).st_mode | stat.S_IRWXU)
    try:
        mode = os.lstat(name, dir_fd=folder).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(mode):
        os.unlink(name, dir_fd=folder)
        return
    subprocess.run([*_REMOVE_FOLDER, name], cwd=f"/proc/self/fd/{folder}", env={"PATH": "/usr/bin:/bin"}, capture_output=True)


def _show_packages(mounts: Mounts, source: Path, shown: Path, caches: Path) -> Path:
    """The folder of packages itself, unless workspaces or caches are among them: then one with a link to each. Workspaces lead to
    the tree, and caches are private."""
    targets = dict[str, Path]()
    for entry in os.scandir(source):
        place = Path(entry.path)
        if entry.is_symlink():
            targets[entry.name] = _find_in_tree(mounts, place)
        elif entry.name.startswith("@"):
            targets[entry.name] = _show_packages(mounts, place, shown / entry.name, caches)
        else:
            targets[entry.name] = caches / entry.name if entry.name in PACKAGE_CACHE_NAMES else place
    if all(target == source / name for name, target in targets.items()):
        return source
    shown.mkdir(parents=True, exist_ok=True)
    for name, target in targets.items():
        if target.parent == caches:
            target.mkdir(parents=True, exist_ok=True)
        if target != shown / name:
            (shown / name).symlink_to(target)
    return shown


def _find_in_tree(mounts: Mounts, link: Path) -> Path:
    """Where a link leads that means a folder of the checkout outside of its environments: there in the tree. Else the link."""
    root, real = Path(os.path.realpath(mounts.at)), Path(os.path.realpath(link))
    inside = real.is_relative_to(root) and not any(real.is_relative_to(root / name) for name in mounts.environments)
    return mounts.tree / real.relative_to(root) if inside else link
