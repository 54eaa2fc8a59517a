"""Where the worktree of a task is: outside the repository, since test runners of the user would collect a copy of its sources.

It is in the user's data folder. Where that can't be written, it is in `.afresh/state/worktrees`, as in earlier versions; a
worktree that is elsewhere is moved when the task is opened next.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shlex import quote

from afresh.core.task import NOTHING_CHANGED
from afresh.errors import BadInput
from afresh.workspace.disk_files import make_accessible, remove_tree, sync_folder, write_durable_file
from afresh.workspace.repository import CHECKOUT_FILE, WORKTREES_FOLDER, Repository
from afresh.workspace.task_branch import TaskBranch, find_worktree_admin, restore_git_pointer, unregister_worktree

MAX_NAME_CHARACTERS = 40
ENVIRONMENTS_SUFFIX = ".environments"
_MOVING_PREFIX = ".moving-"


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


def move_former_tree(repository: Repository, task: str) -> None:
    """Bring the task's worktree to its place from where an earlier version, or a run without a writable home folder, has made it.
    Safe to repeat: the place that git knows holds the work until git is told of the new one."""
    tree = find_task_tree(repository, task)
    _finish_move(repository, task, tree)
    for former in _list_former_trees(repository, task, tree):
        admin = find_worktree_admin(repository, former)
        if admin or not tree.exists():
            make_worktrees_folder(repository)
            unregister_worktree(repository, tree)
            _move_folder(former, tree)
        if admin:
            write_durable_file(admin / "gitdir", f"{tree}/.git\n")
            restore_git_pointer(tree, admin)
        with suppress(OSError):  # in a home folder that can't be written any more
            remove_tree(former)
            former.parent.rmdir()


def _finish_move(repository: Repository, task: str, tree: Path) -> None:
    """Tell git of a worktree that was moved by a process that was killed then."""
    with suppress(OSError):
        admin = Path((tree / ".git").read_text().removeprefix("gitdir: ").strip())
        known = admin.parent == repository.common_dir / WORKTREES_FOLDER and _is_of_task(admin, repository, task)
        if known and not Path((admin / "gitdir").read_text().strip()).exists():
            write_durable_file(admin / "gitdir", f"{tree}/.git\n")


def has_task_tree(repository: Repository, task: str) -> bool:
    """Whether the task has a worktree, at its place or where it was before."""
    tree = find_task_tree(repository, task)
    return tree.exists() or any(_list_former_trees(repository, task, tree))


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


def _list_former_trees(repository: Repository, task: str, tree: Path) -> list[Path]:
    """Folders where the task's worktree was: in the repository's state, and where git says that its branch is checked out."""
    places = (repository.state / WORKTREES_FOLDER / task, *_list_registered_trees(repository, task))
    return [place for place in dict.fromkeys(places) if place != tree and os.path.isdir(place) and not place.is_symlink()]


def _list_registered_trees(repository: Repository, task: str) -> Iterator[Path]:
    """Only our own: a user may have checked out the branch elsewhere, and copies of a checkout, or linked worktrees of the user,
    know of each other's trees. The tree of a checkout that is gone was this one's before it was moved."""
    for admin in sorted((repository.common_dir / WORKTREES_FOLDER).glob("*")):
        with suppress(OSError):
            place = Path((admin / "gitdir").read_text().strip()).parent
            ours = place.name == task and place.parent.parent == _find_shared_folder()
            checkout = _read_checkout(place.parent)
            left = checkout == repository.root or (checkout and not checkout.exists())
            if ours and left and _is_of_task(admin, repository, task):
                yield place


def _is_of_task(admin: Path, repository: Repository, task: str) -> bool:
    return (admin / "HEAD").read_text() == f"ref: {TaskBranch.of(repository, task).ref}\n"


def _move_folder(former: Path, tree: Path) -> None:
    """In one move, also between file systems: the folder is copied beside its new place first."""
    with suppress(OSError):
        former.rename(tree)
        return
    copy = tree.with_name(_MOVING_PREFIX + tree.name)
    remove_tree(copy)
    with suppress(OSError):
        make_accessible(former)
    shutil.copytree(former, copy, symlinks=True, ignore=_list_special_files)
    os.sync()
    copy.rename(tree)
    sync_folder(tree.parent)


def _list_special_files(folder: str, names: list[str]) -> list[str]:
    paths = {name: Path(folder, name) for name in names}
    return [name for name, path in paths.items() if not (path.is_symlink() or path.is_file() or path.is_dir())]


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
