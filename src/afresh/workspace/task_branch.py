"""The task's branch and linked worktree in the user's repository. The branch has exactly one commit on top of the base."""

import hashlib
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afresh.core.task import check_task_id
from afresh.errors import Damaged, NotPossible
from afresh.ports.watch import Clock
from afresh.workspace.base_commit import read_base_commit
from afresh.workspace.disk_files import hold_file_lock, remove_tree, write_durable_file
from afresh.workspace.git import DURABLE_WRITE_CONFIG, Git, GitFailed, copy_objects, run_git_as_user
from afresh.workspace.repository import Repository

OWN_BRANCH_CONFIG = (*DURABLE_WRITE_CONFIG, "core.filesRefLockTimeout=1000")
"""In milliseconds: only afresh writes a task's branch, so the process that left a lock is dead."""


@dataclass(frozen=True, slots=True)
class TaskBranch:
    repository: Repository
    name: str
    shadow: Path

    @classmethod
    def of(cls, repository: Repository, task: str) -> "TaskBranch":
        return cls(repository, f"afresh/{check_task_id(task)}", repository.state / "shadow" / f"{task}.git")

    @property
    def ref(self) -> str:
        return "refs/heads/" + self.name

    @property
    def tip(self) -> str:
        return self.repository.commit(self.ref)

    @property
    def record(self) -> Mapping[str, Any]:
        """What was published last: `commit`, and the `key` and `date` that it was made of."""
        try:
            return json.loads((self.shadow / "published.json").read_text())
        except (OSError, ValueError):
            return {}

    def ours(self, base: str) -> bool:
        """Whether the branch holds nothing but what the task made, or what the user's HEAD has too."""
        tip = self.tip
        known = {"", base, self.record.get("commit", ""), self.begun}
        return tip in known or self.repository.contains(tip, self.repository.head)

    def begin(self, base: str) -> None:
        """Remember where the branch is about to start, so that a half-made one is known again even if HEAD has moved on."""
        write_durable_file(self.shadow / "begun", base)

    @property
    def begun(self) -> str:
        """The commit that the branch starts from; empty before it is made."""
        try:
            return (self.shadow / "begun").read_text()
        except OSError:
            return ""

    def must_be_free(self, base: str) -> None:
        if not self.ours(base):
            raise NotPossible(
                f"the branch {self.name} holds commits that this task did not make",
                next=f"look at it (git log {self.name}), then rename it: git branch -m {self.name} another-name",
                safe="the branch was not touched",
            )

    def publish(self, base: str, snapshot: str, message: str, clock: Clock | None) -> str:
        """Repeating it gives the same commit: its date is written down before it is made, and used again."""
        self.must_be_free(base)
        tree = self._with_submodules(base, snapshot)
        if tree == self.repository.git.ask("rev-parse", base + "^{tree}"):
            return base
        key = hashlib.sha256(f"{base} {tree} {message}".encode()).hexdigest()
        former = self.record
        date = former["date"] if former.get("key") == key else _format_commit_date(clock)
        identity = read_identity(self.repository.root)
        copy_objects(Git(self.shadow), self.repository.git, tree, base)
        commit = self._commit(base, tree, message, identity | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date})
        # recorded first: a crash before the branch moves leaves a record of a commit that can be made again, never an unknown one
        record = {"key": key, "date": date, "commit": commit, "snapshot": snapshot}
        write_durable_file(self.shadow / "published.json", json.dumps(record))
        move = ("update-ref", "--no-deref", "-m", "afresh: publish", self.ref, commit, self.tip)
        self.repository.git.run(*move, config=OWN_BRANCH_CONFIG, variables=identity)
        return commit

    def adopt(self, base: str, snapshot: str, commit: str, text: bytes) -> None:
        """Take over what was published on another machine: the same commit, to the byte. Nothing but the task's own gives way."""
        tree = self._with_submodules(base, snapshot)
        copy_objects(Git(self.shadow), self.repository.git, tree, base)
        note = (
            self.repository.git.run("hash-object", "-t", "commit", "-w", "--stdin", stdin=text, config=DURABLE_WRITE_CONFIG)
            .decode()
            .strip()
        )
        if note != commit or not text.startswith(f"tree {tree}\nparent {base}\n".encode()):
            raise Damaged(
                f"commit {commit[:12]} of {self.name} is not what came along",
                next="export again on the machine that has it",
                safe="the branch was not touched",
            )
        self.take_commit(commit, snapshot)

    def take_commit(self, commit: str, snapshot: str) -> None:
        """Move the branch to a commit that was published elsewhere, and is in the repository."""
        record = {"key": "", "date": "", "commit": commit, "snapshot": snapshot}
        write_durable_file(self.shadow / "published.json", json.dumps(record))
        move = ("update-ref", "--no-deref", "-m", "afresh: import", self.ref, commit, self.tip)
        self.repository.git.run(*move, config=OWN_BRANCH_CONFIG, variables=read_identity(self.repository.root))

    def _with_submodules(self, base: str, snapshot: str) -> str:
        """The snapshot with the base's submodules where they were, except where the task has put files."""
        modules = read_base_commit(self.repository.git, base).submodules
        if not modules:
            return snapshot
        with Git(self.shadow).with_index("index.publish") as git:
            git.run("read-tree", snapshot)
            taken = git.run("ls-files", "-z").split(b"\0")
            free = [
                (commit, path) for commit, path in modules if not any((name + b"/").startswith(path + b"/") for name in taken)
            ]
            lines = b"".join(b"160000 %s\t%s\0" % (commit.encode(), path) for commit, path in free)
            git.run("update-index", "-z", "--index-info", stdin=lines)
            return git.write_tree()

    def _commit(self, base: str, tree: str, message: str, variables: Mapping[str, str]) -> str:
        text = message.rstrip("\n") + "\n"
        output = self.repository.git.run(
            "commit-tree", tree, "-p", base, "-F", "-", stdin=text.encode(), config=DURABLE_WRITE_CONFIG, variables=variables
        )
        return output.decode().strip()


def read_identity(folder: Path) -> dict[str, str]:
    """The user's own name and address, or ours where none is set."""
    name, email = (
        _read_git_setting(folder, "user.name") or "afresh",
        _read_git_setting(folder, "user.email") or "afresh@localhost",
    )
    set_up = {
        "GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email,
        "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": email,
    }  # fmt: skip
    return {variable: _find_usable_name(os.environ.get(variable, "")) or value for variable, value in set_up.items()}


def _read_git_setting(folder: Path, name: str) -> str:
    try:
        return _find_usable_name(run_git_as_user(folder, "config", "--get", name).decode(errors="replace").strip())
    except GitFailed:
        return ""


def _find_usable_name(name: str) -> str:
    """Empty if git would refuse to commit with it, since nothing of it is left."""
    return name if re.search(r"""[^\x00-\x20.,:;<>"\\']""", name) else ""


def _format_commit_date(clock: Clock | None) -> str:
    now = max(0, int(clock.now() if clock else time.time()))
    offset = time.localtime(now).tm_gmtoff // 60
    return f"@{now} {'-' if offset < 0 else '+'}{abs(offset) // 60:02}{abs(offset) % 60:02}"


def find_worktree_admin(repository: Repository, tree: Path) -> Path | None:
    """The repository's own folder for this worktree, if it has one."""
    for admin in sorted((repository.common_dir / "worktrees").glob("*")):
        try:
            pointer = (admin / "gitdir").read_text().strip()
        except OSError:
            continue
        if (admin / pointer).parent.resolve() / ".git" == tree.resolve() / ".git":
            return admin
    return None


def restore_git_pointer(tree: Path, admin: Path) -> None:
    """Make the tree's `.git` a file that names `admin`, whatever is there now."""
    pointer = tree / ".git"
    if has_git_pointer(tree, admin):
        return
    if pointer.is_dir() and not pointer.is_symlink():
        remove_tree(pointer)
    else:
        pointer.unlink(missing_ok=True)
    pointer.write_text(f"gitdir: {admin}\n")


def has_git_pointer(tree: Path, admin: Path) -> bool:
    pointer = tree / ".git"
    return not pointer.is_symlink() and pointer.is_file() and pointer.read_bytes() == f"gitdir: {admin}\n".encode()


@contextmanager
def hold_worktrees(repository: Repository) -> Iterator[None]:
    """Wait until no other task makes or removes a worktree: git fails on one that is half made."""
    with hold_file_lock(repository.common_dir / "afresh-worktrees.lock"):
        yield


def register_worktree(repository: Repository, tree: Path, branch: str, commit: str) -> Path:
    """A new worktree without files in it, on a branch that starts at `commit`; a former folder must be gone."""
    tree.parent.mkdir(parents=True, exist_ok=True)
    repository.git.run("update-ref", "--no-deref", "refs/heads/" + branch, commit, config=OWN_BRANCH_CONFIG)
    add = ("worktree", "add", "--quiet", "--no-checkout", "--force", "--force")
    with hold_worktrees(repository):
        repository.git.run(*add, "--", str(tree), branch)
    admin = find_worktree_admin(repository, tree)
    if admin is None:
        raise GitFailed(add, 0, "the new worktree is not listed")
    restore_git_pointer(tree, admin)
    reset_worktree_index(tree, admin, commit)
    return admin


def reset_worktree_index(tree: Path, admin: Path, commit: str) -> None:
    """Fill the worktree's own index, so that the user's `git status` and `git diff` there show what the task changed."""
    Git(admin, tree).run("read-tree", commit)


def unregister_worktree(repository: Repository, tree: Path) -> None:
    """Remove the folder and what the repository knows of it; of other worktrees nothing."""
    remove_tree(tree)
    if find_worktree_admin(repository, tree):
        with hold_worktrees(repository):
            repository.git.run("worktree", "remove", "--force", "--force", "--", str(tree))


CONFLICT_CODE = 1


@dataclass(frozen=True, slots=True)
class MergeAttempt:
    commit: str = ""
    """Empty if there are conflicts."""
    conflicts: tuple[str, ...] = ()


def make_merge_commit(repository: Repository, head: str, commit: str, message: str) -> MergeAttempt:
    """Merge `commit` into `head`, as git does by default."""
    try:
        tree = repository.git.run("merge-tree", "--write-tree", head, commit, config=DURABLE_WRITE_CONFIG).decode().strip()
    except GitFailed as failure:
        if failure.code != CONFLICT_CODE:
            raise NotPossible(
                f"the merge can't be tried: {failure.what}",
                next="merging without touching your checkout needs git 2.38 or newer; `afresh apply` merges with any",
                safe="your checkout is as it was",
            ) from failure
        return MergeAttempt(conflicts=_list_conflicts(repository, head, commit))
    output = repository.git.run(
        "commit-tree", tree, "-p", head, "-p", commit, "-m", message,
        config=DURABLE_WRITE_CONFIG, variables=read_identity(repository.root),
    )  # fmt: skip
    return MergeAttempt(output.decode().strip())


def _list_conflicts(repository: Repository, head: str, commit: str) -> tuple[str, ...]:
    try:
        repository.git.run("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", head, commit)
    except GitFailed as failure:
        return tuple(dict.fromkeys(filter(None, failure.printed.split("\0")[1:])))
    return ()
