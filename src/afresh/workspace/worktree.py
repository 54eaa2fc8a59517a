"""The Workspace port on git: a worktree of the task's own, snapshots in a shadow repository, one commit at the end."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from afresh.core.change import Change
from afresh.core.event import WorkspaceOpened
from afresh.core.task import START_AT_HEAD, TaskStart
from afresh.errors import Damaged
from afresh.ports.watch import Clock
from afresh.workspace import diff
from afresh.workspace.base_commit import BaseCommit, describe_base, list_uncommitted_files, read_base_commit, set_ignore_rules
from afresh.workspace.confined_path import is_readable_path
from afresh.workspace.diff import list_changes, path_from_bytes
from afresh.workspace.disk_files import write_durable_file
from afresh.workspace.environment_files import (
    copy_import_files,
    find_environment_folders,
    find_import_files,
    list_wanted_files,
)
from afresh.workspace.files import TreeFiles
from afresh.workspace.git import Git, GitFailed, copy_objects
from afresh.workspace.repository import Repository, list_obeyed_paths, make_state_folder
from afresh.workspace.snapshots import ShadowRepository, TreeStatus
from afresh.workspace.task_branch import (
    TaskBranch,
    find_worktree_admin,
    has_git_pointer,
    register_worktree,
    reset_worktree_index,
    restore_git_pointer,
    unregister_worktree,
)
from afresh.workspace.transfer import OPENED_FILE, unpack_work
from afresh.workspace.worktree_location import find_task_environments, find_task_tree, make_worktrees_folder


@dataclass(frozen=True, slots=True)
class PartOrigin:
    """The commit and tree that a subtask starts from."""

    task: str
    base: str
    """The commit that the task itself began with."""
    snapshot: str


def copy_snapshot(source: Path, target: Path, snapshot: str, base: str) -> None:
    """Copy a snapshot from one shadow to another, unless it is there."""
    if not Git(target).ask("rev-parse", "--verify", "--quiet", snapshot + "^{tree}"):
        copy_objects(Git(source), Git(target), snapshot, base)


def list_part_changes(repository: Repository, part: str, before: str, after: str) -> Sequence[Change]:
    """The changes of a subtask, as long as its snapshots exist."""
    return list_changes(Git(TaskBranch.of(repository, part).shadow), before, after)


def read_snapshot_file(repository: Repository, task: str, snapshot: str, path: str) -> str:
    """A file as a snapshot of a task has it; empty when it has none, or is gone itself."""
    try:
        return (
            Git(TaskBranch.of(repository, task).shadow).run("cat-file", "blob", f"{snapshot}:{path}").decode("utf-8", "replace")
        )
    except (GitFailed, OSError):
        return ""


class GitWorkspace:
    """Snapshots are ids of git trees: the same tree has the same id. `.git` is never part of one, and submodules are left out
    of them and put in again by `publish`."""

    def __init__(
        self, repository: Repository, task_id: str, clock: Clock | None = None, origin: PartOrigin | None = None,
        start: TaskStart = START_AT_HEAD, wanted: Sequence[str] = (),
    ) -> None:  # fmt: skip
        """With an `origin` it is the tree of a subtask: it begins there, and publishes nothing. `wanted` are ignored files and
        folders of the checkout that a new tree gets."""
        self.repository, self.task_id, self.clock, self.origin, self.start = repository, task_id, clock, origin, start
        self.root, self._wanted = find_task_tree(repository, task_id), tuple(wanted)
        self.branch = TaskBranch.of(repository, task_id)
        self._shadow = ShadowRepository(self.branch.shadow, self.root)
        self._sound = False
        self._last = ""
        self._seen: TreeStatus | None = None
        self._changes: dict[tuple[str, str], Sequence[Change]] = {}

    @property
    def environments(self) -> Path:
        """The folder of the task's own environments, which its subtasks share."""
        return find_task_environments(self.repository, self.origin.task if self.origin else self.task_id)

    @property
    def files(self) -> TreeFiles:
        return TreeFiles(self.root, self._paths, self.expect_changes)

    def expect_changes(self) -> None:
        """Look at the tree again when its files are asked for: a command runs, or a file was written."""
        self._seen = None

    def open(self) -> WorkspaceOpened:
        self._last, self._seen = "", None
        make_state_folder(self.repository)
        self._shadow.make(self.repository)
        make_worktrees_folder(self.repository)
        unpack_work(self.repository, self.task_id)
        former = self._former()
        self._sound = True
        if former is None:
            return self._begin()
        self._shadow.forget(former.snapshot)
        self._put_in_place(former)
        return former

    def snapshot(self, whole: bool = False) -> str:
        self._ready()
        self._make_enterable()
        now = self._shadow.look()
        self._last, self._seen = self._shadow.keep(self._last, whole, now), now
        return self._last

    def restore(self, snapshot: str, paths: Sequence[str] = (), fresh: bool = False) -> None:
        self._ready()
        if not paths and not fresh and snapshot == self._last and self._untouched():
            return
        self._check(snapshot)
        self._put_in_place(self._opened())
        self._last = ""
        if fresh:
            self._shadow.clear_strays(snapshot)
        self._shadow.put_back(self._mixed(snapshot, paths) if paths else snapshot)
        self._last, self._seen = "" if paths else snapshot, None
        if fresh:
            self._copy_untracked()

    def _untouched(self) -> bool:
        """The tree is what the index says, as it mostly is after a run of tests; and its `.git` is still ours."""
        self._make_enterable()
        admin = find_worktree_admin(self.repository, self.root)
        if admin is None or not has_git_pointer(self.root, admin):
            return False
        now = self._shadow.look()
        self._seen = now if self._shadow.is_untouched(now) else None
        return self._seen is not None

    def changes(self, before: str, after: str) -> Sequence[Change]:
        """Between the same two snapshots always the same, so it is worked out once."""
        if (before, after) not in self._changes:
            newest = dict(list(self._changes.items())[-3:])
            try:
                self._changes = {**newest, (before, after): diff.list_changes(self._shadow.store, before, after)}
            except GitFailed:
                self._check(before, after)
                raise
        return self._changes[before, after]

    def read_files(self, snapshot: str, paths: Sequence[str]) -> Mapping[str, bytes]:
        self._check(snapshot)
        return diff.read_files(self._shadow.store, snapshot, paths)

    def search(self, snapshot: str, words: Sequence[str]) -> Sequence[tuple[str, str]]:
        return diff.search_lines(self._shadow.store, snapshot, words)

    def check_out(self, paths: Sequence[str]) -> Sequence[str]:
        self._last, self._seen = "", None
        names = self._shadow.names()
        chosen = frozenset(paths) if any(name.endswith(b".gitattributes") for name in names) else frozenset[str]()
        return self._shadow.check_out([name for name in names if path_from_bytes(name) in chosen])

    def publish(self, snapshot: str, message: str) -> str:
        self._ready()
        self._check(snapshot)
        if self.origin:
            return ""
        commit = self.branch.publish(self._opened().base, snapshot, message, self.clock)
        admin = find_worktree_admin(self.repository, self.root)
        if admin and self.root.is_dir():
            reset_worktree_index(self.root, admin, commit)
        return commit

    def _begin(self) -> WorkspaceOpened:
        """The first opening, or one after a crash during it: existing files are kept as a snapshot, then replaced."""
        head = self.origin.base if self.origin else self.start.base or self.repository.head
        self.branch.must_be_free(head)
        base = read_base_commit(self.repository.git, head)
        unseen = (*find_environment_folders(self.repository), *find_import_files(self.repository), *self._wanted)
        set_ignore_rules(self._shadow, self.repository, base, unseen)
        self._shadow.forget(head)
        if self.root.is_dir() and not self.root.is_symlink():
            self._shadow.keep()
        unregister_worktree(self.repository, self.root)
        self.branch.begin(head)
        register_worktree(self.repository, self.root, self.branch.name, head)
        snapshot = self._first(head, base)
        self._shadow.put_back(snapshot)
        copied, left = self._copy_untracked()
        text = "" if self.origin else describe_base(base, self._list_left_behind(), copied, left)
        self._last = snapshot
        opened = WorkspaceOpened(head, self.branch.name, snapshot, text, list_obeyed_paths(self.repository.root))
        marker = {"base": head, "snapshot": snapshot, "note": text, "wanted": self._wanted, "obeyed": opened.obeyed}
        write_durable_file(self.marker, json.dumps(marker))
        return opened

    def _list_left_behind(self) -> tuple[str, ...]:
        """Changes of the checkout that are in no commit and do not come along."""
        return () if self.start.carried else list_uncommitted_files(self._shadow, self.repository, self.repository.head)

    def _first(self, head: str, base: BaseCommit) -> str:
        """The snapshot that the task begins with: the base without its submodules, or the tree of the task it is a part of."""
        if not self.origin:
            return self._shadow.without(head, [path for _, path in base.submodules])
        copy_snapshot(TaskBranch.of(self.repository, self.origin.task).shadow, self.branch.shadow, self.origin.snapshot, head)
        self._shadow.forget(self.origin.snapshot)
        return self.origin.snapshot

    def take_over(self, part: str, before: str, after: str) -> None:
        """What a part has changed between two of its snapshots, put into this tree; all else in it stays."""
        copy_snapshot(TaskBranch.of(self.repository, part).shadow, self.branch.shadow, after, self._opened().base)
        self.restore(after, [change.path for change in list_part_changes(self.repository, part, before, after)])

    def _put_in_place(self, opened: WorkspaceOpened) -> None:
        """The folder is there, registered, and its `.git` is ours. One that git has forgotten is made anew with its content."""
        admin = find_worktree_admin(self.repository, self.root)
        there = self.root.is_dir() and not self.root.is_symlink()
        if admin and there and self.branch.tip:
            self._make_enterable()
            restore_git_pointer(self.root, admin)
            return
        self._make_enterable()
        content = self._shadow.keep() if there else opened.snapshot
        unregister_worktree(self.repository, self.root)
        register_worktree(self.repository, self.root, self.branch.name, self.branch.tip or opened.base)
        self._shadow.put_back(content)
        self._copy_untracked()
        self.marker.touch()  # what is there now was written by no command

    def _copy_untracked(self) -> tuple[list[str], list[str]]:
        """Put in what tests need and git does not track; what was copied, and what was left out."""
        value = self._read_marker().get("wanted", self._wanted)
        names = (*find_import_files(self.repository), *list_wanted_files(self.repository, value))
        return copy_import_files(self.repository.root, self.root, tuple(dict.fromkeys(names)))

    def _make_enterable(self) -> None:
        """A command of the task's may have shut the folder; git keeps no mode of it, so no snapshot would open it again."""
        if self.root.is_dir() and (mode := self.root.stat().st_mode) & 0o700 != 0o700:
            self.root.chmod(mode | 0o700)

    @property
    def marker(self) -> Path:
        """Written when the first opening is complete."""
        return self.branch.shadow / OPENED_FILE

    def _former(self) -> WorkspaceOpened | None:
        """What the first opening found; it is written last, so it exists only if the opening was completed."""
        values = self._read_marker()
        if not values:
            return None
        return WorkspaceOpened(
            values["base"], self.branch.name, values["snapshot"], values["note"], tuple(values.get("obeyed", ()))
        )

    def _read_marker(self) -> dict[str, Any]:
        try:
            return json.loads(self.marker.read_text())
        except (OSError, ValueError):
            return {}

    def _opened(self) -> WorkspaceOpened:
        return self._former() or self.open()

    def _ready(self) -> None:
        if not self._sound:
            self.open()

    def _check(self, *snapshots: str) -> None:
        """All are there. Git is asked once for all of them."""
        wanted = "".join(f"{snapshot}^{{tree}}\n" for snapshot in snapshots)
        try:
            lines = self._shadow.store.run("cat-file", "--batch-check", stdin=wanted.encode()).splitlines()
        except GitFailed:
            lines = []
        held = [line.split()[-2:-1] == [b"tree"] for line in lines]
        for snapshot in [name for name, there in zip(snapshots, chain(held, repeat(False)), strict=False) if not there]:
            raise Damaged(
                f"snapshot {snapshot[:12]} of task {self.task_id} is not in {self.branch.shadow}",
                next="restore that folder from a backup, or discard the task and start it again",
                safe="your checkout and the tree of the task were not touched",
            )

    def _mixed(self, snapshot: str, paths: Sequence[str]) -> str:
        """The tree as it is now, with these paths as they were in the snapshot."""
        self._shadow.keep()
        return self._shadow.mixed(
            snapshot,
            lambda name: any(path_from_bytes(name) == path or path_from_bytes(name).startswith(path + "/") for path in paths),
        )

    def _paths(self) -> Sequence[str]:
        """Files of the tree, without the export of the project's tasks, which is not source code."""
        self._ready()
        present = map(os.fsdecode, self._shadow.list_present(self._seen or self._shadow.look()))
        return tuple(sorted(name for name in present if is_readable_path(name) and not name.startswith(".afresh/export/")))
