"""Finds what git no longer has of a task: its snapshots, its commit, its worktree."""

from collections.abc import Iterator

from afresh.core.state import State
from afresh.core.task import TaskStatus
from afresh.workspace.repository import Repository
from afresh.workspace.task_branch import TaskBranch
from afresh.workspace.transfer import find_shadow, has_pending_work, has_tree
from afresh.workspace.worktree_location import find_task_tree


def find_tree_faults(repository: Repository, state: State) -> Iterator[str]:
    """Yield what is missing of a task that has begun and was not tidied away."""
    tree, task = state.workspace, state.task.id
    if not tree.first_snapshot or state.status.closed or has_pending_work(repository, task):
        return
    store = find_shadow(repository, task).store
    for name, snapshot in {"first": tree.first_snapshot, "newest": tree.snapshot}.items():
        if snapshot and not has_tree(store, snapshot):
            yield f"its {name} snapshot {snapshot[:12]} is gone"
    if not state.status.over and not state.task.parent and not find_task_tree(repository, task).exists():
        yield "its worktree is gone"
    if tree.commit and not repository.commit(tree.commit):
        yield f"its commit {tree.commit[:12]} is gone"
    elif tree.commit and state.status is TaskStatus.DONE and not TaskBranch.of(repository, task).tip:
        yield f"its branch {TaskBranch.of(repository, task).ref.removeprefix('refs/heads/')} is gone, its commit is there"
