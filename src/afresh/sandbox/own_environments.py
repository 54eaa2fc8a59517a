"""A task's own copies of the environments in the checkout, and those that it makes itself. Commands with the network can write to
them, all others and the checks see them read-only. The checkout stays as it is.

What a command has written here is never followed or believed: no link in it, and no setting such as the `home` of a `pyvenv.cfg`.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from afresh.errors import Broken, NeedsPerson
from afresh.sandbox.mounts import LINKED_NAME, Mounts

KEPT_PREFIX = "of-"
FOUND_BEFORE_FILE = "found-before"
ENVIRONMENT_MARKER = "pyvenv.cfg"
MAX_DEPTH = 2
MAX_PACKAGES = 200
"""Most packages that are recorded for one command."""


def list_own_environments(mounts: Mounts) -> tuple[str, ...]:
    """Names of the task's own environments."""
    names = [entry.name for entry in _list_folders(mounts.own) if entry.name.startswith(KEPT_PREFIX)]
    return tuple(sorted(unquote(name.removeprefix(KEPT_PREFIX)) for name in names))


def find_environment_source(mounts: Mounts, name: str) -> Path:
    """Where an environment is on the host: the task's own, else the one in the checkout."""
    own = _find_own_place(mounts.own, name) if mounts.own else None
    return own if own and own.is_dir() else mounts.at / name


def _find_own_place(own: Path, name: str) -> Path:
    return own / f"{KEPT_PREFIX}{quote(name, safe='')}"


def copy_environments(mounts: Mounts) -> None:
    """Make the task's missing copies. An incomplete copy is made again."""
    if mounts.own is None:
        raise Broken("a command with the network needs a place for the task's own environments")
    mounts.own.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in mounts.environments:
        source, copy = (mounts.at / name).resolve(), _find_own_place(mounts.own, name)
        if copy.is_dir() or not source.is_dir():
            continue
        unfinished = mounts.own / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        try:
            shutil.copytree(source, unfinished, symlinks=True)
        except (OSError, shutil.Error) as fault:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise NeedsPerson(
                f"{name} could not be copied for the task: {str(fault)[:300]}",
                next=f"make room in {mounts.own.parent}, or remove {name} from your checkout",
                safe="the command was not run",
            ) from fault
        unfinished.rename(copy)
    _note_found(mounts)


def _note_found(mounts: Mounts) -> None:
    """Which environments are in the tree itself, since they are part of the commit. A note that a crash has left behind stays."""
    assert mounts.own
    note = mounts.own / FOUND_BEFORE_FILE
    if not note.exists():
        note.write_text(json.dumps(sorted(_find_in_tree(mounts.tree))))


def collect_new_environments(mounts: Mounts) -> tuple[str, ...]:
    """Take environments that a command has made in the tree out of it, so that they survive a fresh tree; all of the task's."""
    assert mounts.own
    note = mounts.own / FOUND_BEFORE_FILE
    for name in sorted(set(_find_in_tree(mounts.tree)) - set(json.loads(note.read_text())) - set(mounts.environments)):
        place = _find_own_place(mounts.own, name)
        if not place.exists():
            shutil.move(mounts.tree / name, place)
    note.unlink()
    return list_own_environments(mounts)


def _find_in_tree(folder: Path, prefix: str = "", depth: int = MAX_DEPTH) -> Iterator[str]:
    for entry in _list_folders(folder):
        name = prefix + entry.name
        if entry.name == LINKED_NAME or os.path.lexists(os.path.join(entry.path, ENVIRONMENT_MARKER)):
            if next(os.scandir(entry.path), None):  # an empty one is a mount point
                yield name
        elif depth > 1 and entry.name not in (".git", ".afresh"):
            yield from _find_in_tree(Path(entry.path), f"{name}/", depth - 1)


def list_installed_packages(mounts: Mounts) -> frozenset[str]:
    """Names of packages in the task's own environments, with the version where its folder has it."""
    return frozenset(package for name in list_own_environments(mounts) for package in _list_packages(mounts, name))


def _list_packages(mounts: Mounts, name: str) -> Iterator[str]:
    top = find_environment_source(mounts, name)
    if Path(name).name == LINKED_NAME:
        yield from _list_node_packages(top)
    for version in _list_folders(top / "lib") if not (top / "lib").is_symlink() else ():
        site = Path(version.path) / "site-packages"
        for entry in _list_folders(site) if not site.is_symlink() else ():
            if entry.name.endswith(".dist-info"):
                yield entry.name.removesuffix(".dist-info").replace("-", " ", 1)


def _list_node_packages(top: Path) -> Iterator[str]:
    for entry in _list_folders(top):
        if entry.name.startswith("@"):
            yield from (f"{entry.name}/{below.name}" for below in _list_folders(Path(entry.path)))
        elif not entry.name.startswith("."):
            yield entry.name


def _list_folders(folder: Path | None) -> "list[os.DirEntry[str]]":
    """Real folders in it, in order; a link is none."""
    try:
        entries = [entry for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)] if folder else []
    except OSError:
        return []
    return sorted(entries, key=lambda entry: entry.name)
