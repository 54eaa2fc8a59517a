"""Reads what a task has changed since its base, without opening the project: also of a task that is unfinished or applied."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from afresh.core.task import TaskStatus
from afresh.errors import NotPossible
from afresh.storage.choose_storage import find_shared_remote
from afresh.workspace.diff import list_changes, read_patch
from afresh.workspace.git import Git, GitFailed
from afresh.workspace.repository import Repository
from afresh.workspace.shared_work import bring_work
from afresh.workspace.task_branch import TaskBranch
from afresh.workspace.transfer import unpack_work

if TYPE_CHECKING:
    from afresh.core.change import Change
    from afresh.core.state import State


MAX_VERSION_BYTES = 200_000
"""Larger files are not shown whole."""


@dataclass(frozen=True, slots=True)
class FileVersions:
    """A file before and after a step, whole."""

    path: str
    old: str | None
    """None: the file did not exist."""
    new: str
    """Empty if it was deleted."""


def list_file_versions(root: Path, task: str, before: str, after: str) -> Iterator[FileVersions]:
    """Yield each text file that differs between two snapshots of a task, but for those that are too large to show."""
    store = Git(TaskBranch.of(Repository.find(root), task).shadow)
    for change in list_changes(store, before, after):
        if not change.patch or len(change.patch) > MAX_VERSION_BYTES:
            continue
        try:
            old = None if change.kind == "added" else store.run("cat-file", "blob", f"{before}:{change.path}")
            new = b"" if change.kind == "deleted" else store.run("cat-file", "blob", f"{after}:{change.path}")
        except GitFailed:  # its name is not UTF-8
            continue
        if len(old or b"") + len(new) <= MAX_VERSION_BYTES:
            yield FileVersions(change.path, None if old is None else old.decode(errors="replace"), new.decode(errors="replace"))


def list_diff_changes(root: Path, state: "State") -> "Sequence[Change]":
    """Return what the task has changed, file by file, up to its last finished step."""
    return list_snapshot_changes(root, state, state.workspace.first_snapshot, state.workspace.snapshot)


def list_snapshot_changes(root: Path, state: "State", before: str, after: str) -> "Sequence[Change]":
    """Return what differs between two snapshots of the task's tree."""
    return () if before == after else list_changes(_find_snapshots(root, state), before, after)


def read_diff_patch(root: Path, state: "State") -> bytes:
    """Return the same as a patch that `git apply` takes, to the byte."""
    first, last = state.workspace.first_snapshot, state.workspace.snapshot
    return b"" if first == last else read_patch(_find_snapshots(root, state), first, last)


def _find_snapshots(root: Path, state: "State") -> Git:
    task = state.task.id
    if state.status is TaskStatus.DISCARDED:
        raise NotPossible(f"task {task} was discarded, and its changes with it", next=f"`afresh show {task}` shows what is left")
    repository = Repository.find(root)
    unpack_work(repository, task)
    if remote := find_shared_remote(root):
        bring_work(repository, state, remote)
    store = Git(TaskBranch.of(repository, task).shadow)
    if not store.git_dir.is_dir() or not store.ask("rev-parse", "--verify", "--quiet", state.workspace.snapshot + "^{tree}"):
        raise NotPossible(
            f"the changes of task {task} are not on this machine", next="export them where they are, then `afresh import`"
        )
    return store
