"""Worktrees are outside the repository; those that are elsewhere move, whenever the move is interrupted."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from afresh.errors import BadInput
from afresh.testing.workspace_contract import hash_tree
from afresh.workspace import worktree_location
from afresh.workspace.apply_or_discard import discard_task_branch, merge_task_branch
from afresh.workspace.repository import Repository
from afresh.workspace.task_branch import find_worktree_admin
from afresh.workspace.worktree import GitWorkspace
from afresh.workspace.worktree_location import (
    find_task_tree,
    find_worktrees_folder,
    has_task_tree,
    identify_checkout,
    is_outside_repository,
    list_stale_folders,
    make_worktrees_folder,
    move_former_tree,
)

Git = Callable[..., str]


class Killed(BaseException):
    pass


@pytest.fixture
def unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it to give the data folder back."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file" / "data"))
    return lambda: monkeypatch.delenv("XDG_DATA_HOME")


@pytest.fixture
def former(checkout: Path, unwritable: Callable[[], None]) -> GitWorkspace:
    """A task with unsaved work, and an ignored file, in a tree within the repository."""
    workspace = GitWorkspace(Repository.find(checkout), "t1")
    workspace.open()
    (workspace.root / "change.txt").write_text("after\n")
    (workspace.root / "run.log").write_text("ignored\n")
    unwritable()
    return workspace


def list_trees(git: Git) -> set[str]:
    return {line.split()[0] for line in git("worktree", "list").splitlines()}


def test_a_tree_is_outside_the_repository_and_for_its_owner_only(checkout: Path, opened: GitWorkspace, git: Git) -> None:
    assert not opened.root.is_relative_to(checkout) and opened.root == find_task_tree(opened.repository, "t1")
    assert opened.root.parent.stat().st_mode & 0o077 == 0 and str(opened.root) in list_trees(git)
    assert not [path for path in checkout.rglob("module.py") if path != checkout / "pkg" / "module.py"]


def test_checkouts_of_the_same_name_have_folders_of_their_own(tmp_path: Path) -> None:
    one, other = identify_checkout(tmp_path / "a" / "my shop"), identify_checkout(tmp_path / "b" / "my shop")
    assert one != other and one.startswith("my_shop-") and one == identify_checkout(tmp_path / "a" / "my shop")


def test_without_a_writable_data_folder_the_tree_is_in_the_state(checkout: Path, unwritable: Callable[[], None]) -> None:
    repository = Repository.find(checkout)
    assert not is_outside_repository(repository) and find_worktrees_folder(repository) == repository.state / "worktrees"


def test_a_data_folder_within_the_repository_is_not_used(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(checkout / ".local" / "share"))
    assert not is_outside_repository(Repository.find(checkout))


def test_a_data_folder_that_is_read_only_is_not_used(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda place, mode: False)  # root may write anywhere
    assert not is_outside_repository(repository)


def test_a_tree_in_the_repository_moves_with_all_that_is_in_it(checkout: Path, former: GitWorkspace, git: Git) -> None:
    assert former.root.is_relative_to(checkout)
    now = GitWorkspace(former.repository, "t1")
    assert has_task_tree(now.repository, "t1") and not now.root.exists(), "looking at a task moves nothing"
    now.open()
    assert (now.root / "change.txt").read_text() == "after\n" and (now.root / "run.log").read_text() == "ignored\n"
    assert not (checkout / ".afresh" / "state" / "worktrees").exists()
    assert list_trees(git) == {str(checkout), str(now.root)} and "change.txt" in git("status", "--short", cwd=now.root)


def test_a_tree_moves_to_another_file_system(former: GitWorkspace, monkeypatch: pytest.MonkeyPatch, git: Git) -> None:
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if self == former.root:
            raise OSError(18, "Invalid cross-device link")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    os.mkfifo(former.root / "pipe")
    content = hash_tree(former.root, without=(".git", "pipe"))
    now = GitWorkspace(former.repository, "t1")
    now.open()
    assert hash_tree(now.root, without=(".git",)) == content and not former.root.exists()
    assert "change.txt" in git("status", "--short", cwd=now.root)


STEPS = (
    "make_worktrees_folder",
    "unregister_worktree",
    "_move_folder",
    "write_durable_file",
    "restore_git_pointer",
    "remove_tree",
)


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_of_a_move_nothing_is_lost(
    former: GitWorkspace, git: Git, monkeypatch: pytest.MonkeyPatch, step: str, when: str, copied: bool
) -> None:
    content = hash_tree(former.root, without=(".git",))
    real: Callable[..., Any] = getattr(worktree_location, step)

    def kill(*arguments: Any) -> None:
        if when == "after":
            real(*arguments)
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        if copied:
            patch.setattr(worktree_location, "_move_folder", copy_folder)
        real = getattr(worktree_location, step)
        patch.setattr(worktree_location, step, kill)
        move_former_tree(former.repository, "t1")
    again = GitWorkspace(Repository.find(former.repository.root), "t1")
    again.open()
    assert hash_tree(again.root, without=(".git",)) == content
    assert not former.root.exists() and list_trees(git) == {str(former.repository.root), str(again.root)}


def copy_folder(former: Path, tree: Path) -> None:
    """As between file systems: the former folder is still there afterwards."""
    shutil.copytree(former, tree, symlinks=True)


def test_work_of_a_run_without_a_home_folder_comes_back_to_the_tree(
    opened: GitWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = opened.snapshot()
    with monkeypatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(opened.repository.root / "keep.txt"))
        inside = GitWorkspace(opened.repository, "t1")
        inside.restore(snapshot)
        (inside.root / "change.txt").write_text("later\n")
    now = GitWorkspace(opened.repository, "t1")
    now.open()
    assert now.root == opened.root and (now.root / "change.txt").read_text() == "later\n" and not inside.root.exists()


def test_a_moved_checkout_takes_its_trees_along(opened: GitWorkspace, tmp_path: Path, git: Git) -> None:
    (opened.root / "change.txt").write_text("after\n")
    (tmp_path / "repo").rename(tmp_path / "elsewhere")
    now = GitWorkspace(Repository.find(tmp_path / "elsewhere"), "t1")
    now.open()
    assert (now.root / "change.txt").read_text() == "after\n" and not opened.root.exists() and now.root != opened.root
    assert "change.txt" in git("status", "--short", cwd=now.root)


def test_a_copied_checkout_leaves_the_trees_of_the_original(opened: GitWorkspace, tmp_path: Path) -> None:
    (opened.root / "change.txt").write_text("after\n")
    shutil.copytree(tmp_path / "repo", tmp_path / "copy", symlinks=True)
    copy = GitWorkspace(Repository.find(tmp_path / "copy"), "t1")
    copy.open()
    assert (copy.root / "change.txt").read_text() == "before\n" and (opened.root / "change.txt").read_text() == "after\n"
    discard_task_branch(copy.repository, "t1")
    assert opened.root.is_dir() and find_worktree_admin(opened.repository, opened.root)


def test_a_branch_that_the_user_has_checked_out_stays_there(opened: GitWorkspace, tmp_path: Path, git: Git) -> None:
    git("worktree", "add", "--force", "-q", str(tmp_path / "t1"), "afresh/t1")
    GitWorkspace(opened.repository, "t1").open()
    assert (tmp_path / "t1" / "keep.txt").exists()


def test_discarding_removes_a_tree_that_has_not_moved_yet(former: GitWorkspace, git: Git) -> None:
    discard_task_branch(former.repository, "t1")
    assert (
        not former.root.exists()
        and list_trees(git) == {str(former.repository.root)}
        and not has_task_tree(former.repository, "t1")
    )


def test_applying_looks_at_a_tree_that_has_not_moved_yet(former: GitWorkspace, checkout: Path) -> None:
    former.publish(former.snapshot(), "Change it")
    (former.root / "mine.txt").write_text("by hand\n")
    assert "has changes that are in no commit" in merge_task_branch(former.repository, "t1").note
    assert (find_task_tree(former.repository, "t1") / "mine.txt").exists() and (checkout / "change.txt").read_text() == "after\n"


def test_trees_that_no_task_needs_are_listed(opened: GitWorkspace, tmp_path: Path, git: Git) -> None:
    assert list(list_stale_folders(opened.repository, {"t1": True})) == []
    (over,) = list_stale_folders(opened.repository, {"t1": False})
    (strange,) = list_stale_folders(opened.repository, {})
    assert over.path == strange.path == opened.root and over.remedy.startswith("rm -r ")
    assert strange.remedy.startswith("if no other store has its task"), "a server and the project's files share the folder"
    git("clone", "-q", str(tmp_path / "repo"), str(tmp_path / "clone"))
    GitWorkspace(Repository.find(tmp_path / "clone"), "t2").open()
    shutil.rmtree(tmp_path / "clone")
    (gone,) = list_stale_folders(opened.repository, {"t1": True})
    assert "clone-" in gone.path.name and "is gone" in gone.why


def test_a_folder_that_can_not_be_made_is_said(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *arguments: Any, **options: Any) -> None:
        raise OSError(122, "Disk quota exceeded")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(BadInput, match="Disk quota exceeded"):
        make_worktrees_folder(repository)
