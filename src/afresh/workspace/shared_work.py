"""A task's tree for several machines: each snapshot is on the git remote before the journal names it, and the result is pushed as
the branch `afresh/TASK`.

Snapshots are a chain of commits under a ref of their own on the remote, which no branch list shows. Their ids are made of their
content alone, so that a worker that takes a step again makes the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from afresh.core.event import WorkspaceOpened
from afresh.core.state import State
from afresh.core.task import check_task_id
from afresh.core.work_transfer import has_transferable_work
from afresh.errors import Damaged, NotPossible
from afresh.ports.watch import Clock
from afresh.workspace.git import Git
from afresh.workspace.git_remote import fetch_ref, push_commit, read_remote_ref
from afresh.workspace.repository import Repository
from afresh.workspace.snapshots import ShadowRepository
from afresh.workspace.task_branch import TaskBranch
from afresh.workspace.transfer import adopt_work, has_tree
from afresh.workspace.worktree import GitWorkspace, PartOrigin
from afresh.workspace.worktree_location import find_task_tree

MAX_PUSHES = 5
"""Attempts to push one snapshot or branch while others move the ref."""
SNAPSHOT_IDENTITY = {
    "GIT_AUTHOR_NAME": "afresh",
    "GIT_AUTHOR_EMAIL": "afresh@localhost",
    "GIT_AUTHOR_DATE": "@0 +0000",
    "GIT_COMMITTER_NAME": "afresh",
    "GIT_COMMITTER_EMAIL": "afresh@localhost",
    "GIT_COMMITTER_DATE": "@0 +0000",
}


def name_snapshot_ref(task: str) -> str:
    return f"refs/afresh/snapshots/{check_task_id(task)}"


def name_result_ref(task: str) -> str:
    """The local ref for the result that was fetched from the remote."""
    return f"refs/afresh/results/{check_task_id(task)}"


@dataclass(frozen=True, slots=True)
class SharedPlace:
    """The remote with a task's work, and the worker that may push."""

    remote: str
    """Address of the project's git remote."""
    check_owner: Callable[[], None] = lambda: None
    """Raises if this worker no longer holds the task, so that it can't replace the result of another."""


class SharedWorkspace(GitWorkspace):
    """A GitWorkspace whose snapshots and result any worker of the project can reach."""

    def __init__(
        self, repository: Repository, state: State, clock: Clock, place: SharedPlace, origin: PartOrigin | None = None,
        wanted: Sequence[str] = (),
    ) -> None:  # fmt: skip
        super().__init__(repository, state.task.id, clock, origin, state.workspace.start, wanted)
        self.place = place
        self._shared = ""

    def open(self) -> WorkspaceOpened:
        opened = super().open()
        self._share(opened.snapshot)
        return opened

    def snapshot(self, whole: bool = False) -> str:
        kept = super().snapshot(whole)
        self._share(kept)
        return kept

    def publish(self, snapshot: str, message: str) -> str:
        commit = super().publish(snapshot, message)
        if commit and commit != self._opened().base:
            push_result(self.repository, self.task_id, commit, self._opened().base, self.place)
        return commit

    def take_over(self, part: str, before: str, after: str) -> None:
        if not has_tree(Git(TaskBranch.of(self.repository, part).shadow), after):
            bring_snapshots(self.repository, part, self.place.remote)
        super().take_over(part, before, after)

    def _share(self, snapshot: str) -> None:
        if snapshot != self._shared:
            push_snapshot(self.repository, self.task_id, snapshot, self._opened().base, self.place.remote)
            self._shared = snapshot


def push_snapshot(repository: Repository, task: str, snapshot: str, base: str, remote: str) -> None:
    """Put the snapshot at the end of the task's chain on the remote, unless it is in it."""
    store, ref = Git(TaskBranch.of(repository, task).shadow), name_snapshot_ref(task)
    tip = store.ask("rev-parse", "--verify", "--quiet", ref)
    for _ in range(MAX_PUSHES):
        if tip and snapshot in list_chain_trees(store, tip, base):
            return
        text = _commit_snapshot(store, snapshot, tip or base)
        if push_commit(store.git_dir, remote, text, ref, tip):
            store.run("update-ref", ref, text)
            return
        tip = bring_snapshots(repository, task, remote)
    raise NotPossible(
        f"the snapshots of task {task} on {remote} are moved by others all the time",
        next=f"see who else works on it (afresh show {task}), then `afresh resume {task}`",
        safe="the task's journal is kept",
    )


def _commit_snapshot(store: Git, snapshot: str, parent: str) -> str:
    output = store.run("commit-tree", snapshot, "-p", parent, "-m", "afresh: snapshot", variables=SNAPSHOT_IDENTITY)
    return output.decode().strip()


def list_chain_trees(git: Git, tip: str, base: str) -> set[str]:
    return set(git.run("log", "--format=%T", tip, f"^{base}").decode().split())


def bring_snapshots(repository: Repository, task: str, remote: str) -> str:
    """Fetch the task's snapshots from the remote, where its shadow repository finds them; the tip of their chain."""
    ref, shadow = (
        name_snapshot_ref(task),
        ShadowRepository(TaskBranch.of(repository, task).shadow, find_task_tree(repository, task)),
    )
    tip = fetch_ref(repository.common_dir, remote, ref, ref)
    if tip:
        shadow.make(repository)
        shadow.store.run("update-ref", ref, tip)
    return tip


def bring_work(repository: Repository, state: State, remote: str) -> None:
    """Fetch what another machine has made of the task, if it is not here: snapshots, and the branch of its result."""
    if not has_transferable_work(state):
        return
    task, place = state.task.id, state.workspace
    if not _has_snapshots(repository, state):
        bring_snapshots(repository, task, remote)
    if not _has_snapshots(repository, state):
        raise Damaged(
            f"snapshot {place.snapshot[:12]} of task {task} is not on {remote}",
            next=f"see whether somebody deleted {name_snapshot_ref(task)} there; `afresh discard {task}` gives the task up",
            safe="the task's journal is intact",
        )
    adopt_work(repository, state)
    if place.commit not in ("", place.base) and not state.task.parent:
        _bring_result(repository, state, remote)


def _has_snapshots(repository: Repository, state: State) -> bool:
    store = Git(TaskBranch.of(repository, state.task.id).shadow)
    return all(has_tree(store, tree) for tree in (state.workspace.first_snapshot, state.workspace.snapshot))


def _bring_result(repository: Repository, state: State, remote: str) -> None:
    """Make the task's branch here the commit that the journal names."""
    branch, commit = TaskBranch.of(repository, state.task.id), state.workspace.commit
    if branch.tip == commit:
        return
    branch.must_be_free(state.workspace.base)
    if not repository.commit(commit):
        fetch_ref(repository.common_dir, remote, branch.ref, name_result_ref(state.task.id))
    if not repository.commit(commit):
        raise Damaged(
            f"commit {commit[:12]}, the result of task {state.task.id}, is not in {branch.name} on {remote}",
            next=f"`afresh resume {state.task.id}` makes it again",
            safe="your checkout was not changed",
        )
    branch.take_commit(commit, state.workspace.snapshot)


def push_result(repository: Repository, task: str, commit: str, base: str, place: SharedPlace) -> None:
    """Push the commit as the task's branch. What the task itself pushed before gives way; anything else does not."""
    branch = TaskBranch.of(repository, task)
    for _ in range(MAX_PUSHES):
        tip = read_remote_ref(repository.common_dir, place.remote, branch.ref)
        if tip == commit:
            return
        if tip not in ("", base):
            _refuse_foreign_tip(repository, task, tip, base, place.remote)
        place.check_owner()  # after the tip was read: a worker that has lost the task can't replace what came since
        if push_commit(repository.common_dir, place.remote, commit, branch.ref, tip):
            return
    raise NotPossible(
        f"{branch.name} on {place.remote} is moved by others all the time",
        next=f"see who pushes to it, then `afresh resume {task}`",
        safe="the result is kept in the task's snapshots",
    )


def _refuse_foreign_tip(repository: Repository, task: str, tip: str, base: str, remote: str) -> None:
    """NotPossible unless the commit is a snapshot of the task, on its base."""
    fetch_ref(repository.common_dir, remote, TaskBranch.of(repository, task).ref, name_result_ref(task))
    tree, *parents = repository.git.ask("log", "-1", "--format=%T %P", tip).split() or [""]
    chain = bring_snapshots(repository, task, remote)
    if parents == [base] and chain and tree in list_chain_trees(repository.git, chain, base):
        return
    raise NotPossible(
        f"the branch afresh/{task} on {remote} holds a commit that this task did not make ({tip[:12]})",
        next=f"rename it there, then `afresh resume {task}`",
        safe="nothing was pushed over it, and the task's work is kept",
    )


def remove_shared_work(repository: Repository, task: str, commit: str, remote: str) -> None:
    """Delete the task's snapshots from the remote, and its branch if it is still at the commit that the task made."""
    ref, branch = name_snapshot_ref(task), TaskBranch.of(repository, task).ref
    for name, held in ((ref, read_remote_ref(repository.common_dir, remote, ref)), (branch, commit)):
        if held and read_remote_ref(repository.common_dir, remote, name) == held:
            push_commit(repository.common_dir, remote, "", name, held)
    for name in (ref, name_result_ref(task)):
        repository.git.ask("update-ref", "-d", name)
