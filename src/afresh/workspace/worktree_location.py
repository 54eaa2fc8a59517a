"""Where the worktree of a task is: outside the repository, since test runners of the user would collect a copy of its sources.

It is in the user's data folder. Where that can't be written, it is in `.afresh/state/worktrees`. A task whose worktree is not
there gets a new one with its newest snapshot.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shlex import quote

from afresh.core.task import NOTHING_CHANGED
from afresh.errors import BadInput
from afresh.workspace.disk_files import write_durable_file
from afresh.workspace.repository import CHECKOUT_FILE, WORKTREES_FOLDER, Repository

MAX_NAME_CHARACTERS = 40
ENVIRONMENTS_SUFFIX = ".environments"


def identify_checkout(root: Path) -> str:
    """A name for a checkout that is readable, stable, and differs between any two paths."""
    readable = re.sub(r"[^\w.-]", "_", root.name, flags=re.ASCII)[:MAX_NAME_CHARACTERS]
    return f"{readable}-{sha256(os.fsencode(root)).hexdigest()[:12]}"


def find_worktrees_folder(repository: Repository) -> Path:
    """The folder of this checkout's worktrees; it need not exist yet."""
    folder = _find_shared_folder() / identify_checkout(repository.root)
    return folder if _can_hold_trees(folder, repository.root) else repository.state / WORKTREES_FOLDER


def find_task_tree(repository: Repository, task: str) -> Path:
    return find_worktrees_folder(repository) / task


def find_task_environments(repository: Repository, task: str) -> Path:
    """Beside the worktree: environments of the task's own, if it has any."""
    return find_worktrees_folder(repository) / f"{task}{ENVIRONMENTS_SUFFIX}"


def make_worktrees_folder(repository: Repository) -> Path:
    """Make the folder, for its owner only, with the path of the checkout in it."""
    folder = find_worktrees_folder(repository)
    note = folder / CHECKOUT_FILE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder != repository.state / WORKTREES_FOLDER and not note.exists():
            write_durable_file(note, f"{repository.root}\n")
    except OSError as fault:
        raise BadInput(
            f"{folder} can't be used: {fault.strerror}",
            next="make room there, or set XDG_DATA_HOME to a folder that you can write to",
            safe=NOTHING_CHANGED,
        ) from fault
    return folder


def is_outside_repository(repository: Repository) -> bool:
    return find_worktrees_folder(repository) != repository.state / WORKTREES_FOLDER


@dataclass(frozen=True, slots=True)
class StaleFolder:
    """A folder of worktrees that nothing here needs."""

    path: Path
    why: str
    is_known: bool = True
    """False: this store does not know its task, but another one may."""

    @property
    def remedy(self) -> str:
        command = f"rm -r {quote(str(self.path))}"
        return command if self.is_known else f"if no other store has its task (AFRESH_STORE): {command}"


def list_stale_folders(repository: Repository, tasks: Mapping[str, bool]) -> Iterator[StaleFolder]:
    """Worktrees of this checkout that no task needs, and folders of checkouts that are gone. `tasks`: those of this store, and
    whether they need theirs. A store on a server and the files of the project have the same folder of worktrees."""
    for folder in (find_worktrees_folder(repository), repository.state / WORKTREES_FOLDER):
        for tree in _list_folders(folder):
            task = tree.name.removesuffix(ENVIRONMENTS_SUFFIX)
            if task not in tasks:
                yield StaleFolder(tree, "this store has no task of that name", is_known=False)
            elif not tasks[task]:
                yield StaleFolder(tree, "its task is over")
    for folder in _list_folders(_find_shared_folder()):
        checkout = _read_checkout(folder)
        if checkout and not checkout.exists() and _list_folders(folder):
            yield StaleFolder(folder, f"its checkout {checkout} is gone")


def _find_shared_folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("afresh") / WORKTREES_FOLDER


def _can_hold_trees(folder: Path, root: Path) -> bool:
    if not folder.is_absolute() or Path(os.path.realpath(folder)).is_relative_to(root):
        return False
    existing = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
    return os.path.isdir(existing) and os.access(existing, os.R_OK | os.W_OK | os.X_OK)


def _list_folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError:
        return []


def _read_checkout(folder: Path) -> Path | None:
    try:
        return Path((folder / CHECKOUT_FILE).read_text().strip())
    except OSError:
        return None
