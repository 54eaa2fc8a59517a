"""Worktrees are outside the repository; a task whose worktree is elsewhere gets a new one."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from afresh.errors import BadInput
from afresh.workspace.apply_or_discard import discard_task_branch
from afresh.workspace.repository import Repository
from afresh.workspace.task_branch import find_worktree_admin
from afresh.workspace.worktree import GitWorkspace
from afresh.workspace.worktree_location import (
    find_task_tree,
    find_worktrees_folder,
    identify_checkout,
    is_outside_repository,
    list_stale_folders,
    make_worktrees_folder,
)

Git = Callable[..., str]


@pytest.fixture
def unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it to give the data folder back."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file" / "data"))
    return lambda: monkeypatch.delenv("XDG_DATA_HOME")


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


def test_a_moved_checkout_gets_a_new_tree_with_the_snapshot_and_leaves_the_old_one(
    opened: GitWorkspace, tmp_path: Path, git: Git
) -> None:
    (opened.root / "change.txt").write_text("after\n")
    snapshot = opened.snapshot()
    (tmp_path / "repo").rename(tmp_path / "elsewhere")
    now = GitWorkspace(Repository.find(tmp_path / "elsewhere"), "t1")
    now.restore(snapshot)
    assert (now.root / "change.txt").read_text() == "after\n" and opened.root.exists() and now.root != opened.root
    assert "change.txt" in git("status", "--short", cwd=now.root)
    (left,) = list_stale_folders(now.repository, {"t1": True})
    assert left.path == opened.root.parent and "is gone" in left.why


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
