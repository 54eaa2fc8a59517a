"""A merge as a commit that no branch names yet: the user's checkout, index and branches are not touched."""

from dataclasses import dataclass

from afresh.errors import NotPossible
from afresh.workspace.git import DURABLE_WRITE_CONFIG, GitFailed
from afresh.workspace.repository import Repository
from afresh.workspace.task_branch import read_identity

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
    made = repository.git.run(
        "commit-tree", tree, "-p", head, "-p", commit, "-m", message,
        config=DURABLE_WRITE_CONFIG, variables=read_identity(repository.root),
    )  # fmt: skip
    return MergeAttempt(made.decode().strip())


def _list_conflicts(repository: Repository, head: str, commit: str) -> tuple[str, ...]:
    try:
        repository.git.run("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", head, commit)
    except GitFailed as failure:
        return tuple(dict.fromkeys(filter(None, failure.printed.split("\0")[1:])))
    return ()
