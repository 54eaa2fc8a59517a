"""Tasks of one repository that begin and end at the same time."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from afresh.workspace.repository import Repository
from afresh.workspace.task_branch import find_worktree_admin, register_worktree, unregister_worktree

COUNT = 24


def test_worktrees_that_are_made_and_removed_at_the_same_time_do_not_meet_half_made_ones(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    for arguments in (("init", "-q", "-b", "main"), ("commit", "-qm", "first", "--allow-empty")):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments], cwd=root, check=True)
    repository = Repository.find(root)

    def make_and_remove(number: int) -> None:
        tree = tmp_path / f"tree{number}"
        register_worktree(repository, tree, f"branch{number}", repository.head)
        if number % 2:
            unregister_worktree(repository, tree)

    with ThreadPoolExecutor(8) as workers:
        [*workers.map(make_and_remove, range(COUNT))]
    kept = [number for number in range(COUNT) if find_worktree_admin(repository, tmp_path / f"tree{number}")]
    assert kept == [*range(0, COUNT, 2)]
