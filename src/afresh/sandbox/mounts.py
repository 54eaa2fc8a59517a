"""What a sandbox is made for: where the task's tree is, where it is to appear, and how much a command may use."""

import contextlib
import os
import pwd
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from afresh.errors import BadInput

PROTECTED_NAMES = (".git", ".afresh")
"""Read-only for commands, whether they exist yet or not: what afresh and git take orders from."""

LINKED_NAME = "node_modules"
PACKAGE_CACHE_NAMES = (".vite", ".vite-temp", ".vitest", ".cache")
"""Folders in node_modules that tools write to."""
PRIVATE_PREFIX = "afresh-"
"""Of the folder that a command has for itself, in the system's folder for temporary files."""
_HIDDEN_FOLDERS = tuple(Path(name) for name in ("/proc", "/sys", "/dev", "/run", "/var/run"))


@dataclass(frozen=True, slots=True)
class Mounts:
    """`tree` on the host appears as `at` (the user's repository path) inside; `environments` of the checkout stay readable in it.

    The repository's own `.git` folder is not visible (its config may hold tokens): a build that asks git for a version needs
    that folder in `readable`.
    """

    tree: Path
    at: Path
    environments: tuple[str, ...] = ()
    readable: tuple[Path, ...] = ()
    own: Path | None = None
    """Where the task's own environments are: see own_environments.py."""
    marker: Path | None = None
    """Written when the task's tree was ready, in the folder of its snapshots: what was written since then is the task's."""

    def __post_init__(self) -> None:
        for path in (self.tree, self.at, *self.readable):
            if not path.is_absolute() or ".." in path.parts:
                raise BadInput(f"the sandbox needs absolute paths, got {path}")
        for name in self.environments:
            parts = PurePosixPath(name).parts
            if not parts or name.startswith("/") or ".." in parts:
                raise BadInput(f"an environment folder must lie inside the repository, got {name!r}")
        for path in self.readable:
            self._refuse_too_wide(path)

    def list_written(self) -> tuple[Path, ...]:
        """Folders on the disk that a command can write to."""
        return (self.tree, self.own) if self.own and self.own.is_dir() else (self.tree,)

    def _refuse_too_wide(self, path: Path) -> None:
        real = path.resolve()
        wide = any(real == private or real in private.parents for private in (*find_home_folders(), self.at))
        if wide or any(real == hidden or hidden in real.parents for hidden in _HIDDEN_FOLDERS):
            raise BadInput(f"{path} is too broad to make readable for commands", "name a folder inside it")


BOUND_SOCKETS = Path("/proc/net/unix")


def mask_sockets(mounts: Mounts) -> Iterator[str]:
    """Bubblewrap's options that cover sockets in the tree: who listens there is outside, and no namespace closes a named one."""
    try:
        lines = BOUND_SOCKETS.read_text("utf-8", "replace").splitlines()[1:]
    except OSError:
        return
    for line in lines:
        path = Path(line.split(maxsplit=7)[7]) if len(line.split(maxsplit=7)) > 7 else None
        if path and path.is_absolute() and path.is_relative_to(mounts.tree) and path.is_socket():
            yield from ("--ro-bind", "/dev/null", str(mounts.at / path.relative_to(mounts.tree)))


def find_home_folders() -> frozenset[Path]:
    """The user's home folder, as the system and as the environment say it."""
    paths = [Path.home()]
    with contextlib.suppress(KeyError):
        paths.append(Path(pwd.getpwuid(os.getuid()).pw_dir))
    return frozenset(path.resolve() for path in paths)


def make_own_folder(tree: Path, name: str) -> Path:
    """The folder `name` of the tree, made if missing. BadInput if a symlink or a file is in the way.

    A mount point that a command could turn into a symlink would let the next command's mounts land elsewhere.
    """
    if blocked := find_blocked_folder(tree, (name,)):
        path = tree / blocked
        raise BadInput(f"{path} is not a folder of its own", f"replace it in the repository: {name} must be a plain folder")
    (tree / name).mkdir(parents=True, exist_ok=True)
    return tree / name


def find_blocked_folder(tree: Path, names: Iterable[str]) -> str:
    """The first of these folders or their parents that is a link, a file or unreadable; empty if there is none."""
    for name in names:
        for place in [*reversed(PurePosixPath(name).parents), PurePosixPath(name)][1:]:
            try:
                mode = os.lstat(tree / place).st_mode
            except FileNotFoundError:
                break
            except PermissionError:
                return str(place)
            if not stat.S_ISDIR(mode):
                return str(place)
    return ""


def make_protected_paths(tree: Path) -> tuple[str, ...]:
    """Names in the tree to be kept read-only. Missing ones are made first, so that a command cannot make them."""
    for name in PROTECTED_NAMES:
        path = tree / name
        if path.is_symlink():
            raise BadInput(f"{path} is a symbolic link: a command could write through it", "make it a plain file or folder")
        if not path.exists():
            path.mkdir()
    return PROTECTED_NAMES
