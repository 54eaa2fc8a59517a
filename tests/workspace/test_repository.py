from pathlib import Path

import pytest

from afresh.core.task import check_task_id
from afresh.errors import BadInput
from afresh.workspace.repository import Repository, make_state_folder
from afresh.workspace.worktree import GitWorkspace


def refused(path: Path) -> BadInput:
    with pytest.raises(BadInput) as caught:
        Repository.find(path)
    assert caught.value.next and caught.value.safe
    return caught.value


def test_a_folder_without_git_is_refused(tmp_path: Path):
    assert "not in a git repository" in refused(tmp_path).what


def test_a_missing_folder_is_refused(tmp_path: Path):
    assert "not a folder" in refused(tmp_path / "none").what


def test_a_bare_repository_is_refused(tmp_path: Path, git):
    git("init", "-q", "--bare", "bare", cwd=tmp_path)
    assert "bare" in refused(tmp_path / "bare").what


def test_the_inside_of_a_git_folder_is_refused(checkout: Path):
    assert ".git folder" in refused(checkout / ".git").what


def test_a_repository_without_commits_is_refused(tmp_path: Path, git):
    git("init", "-q", "empty", cwd=tmp_path)
    assert "no commit yet" in refused(tmp_path / "empty").what


@pytest.mark.parametrize("place", [".afresh", ".afresh/state", ".afresh/state/worktrees", ".afresh/state/shadow"])
def test_a_linked_state_folder_is_refused(checkout: Path, tmp_path: Path, place: str):
    (tmp_path / "elsewhere").mkdir()
    (checkout / place).parent.mkdir(parents=True, exist_ok=True)
    (checkout / place).symlink_to(tmp_path / "elsewhere")
    assert "symlink" in refused(checkout).what
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_state_folder_is_made_for_its_owner_only(checkout: Path):
    folder = make_state_folder(Repository.find(checkout))
    assert folder == checkout / ".afresh" / "state" == make_state_folder(Repository.find(checkout))
    assert folder.stat().st_mode & 0o077 == 0


def test_state_that_came_with_the_repository_is_refused(checkout: Path, git):
    (checkout / ".afresh" / "state").mkdir(parents=True)
    (checkout / ".afresh" / "state" / "afresh.db").write_text("theirs")
    git("add", "-f", ".afresh")
    git("commit", "-qm", "State")
    assert "tracks .afresh/state" in refused(checkout).what


def test_a_state_folder_in_a_submodule_is_refused(checkout: Path, tmp_path: Path):
    (checkout / ".afresh" / "state" / "checkpoints").mkdir(parents=True)
    (checkout / ".afresh" / "state" / "checkpoints" / "zz").symlink_to(tmp_path)
    (checkout / ".afresh" / ".git").write_text("gitdir: ../.git/modules/theirs\n")
    assert "repository of its own" in refused(checkout).what


def test_the_tree_of_a_task_is_refused(opened: GitWorkspace):
    assert "tree of a task" in refused(opened.root).what


def test_an_embedded_bare_repository_is_not_taken_for_one(checkout: Path, tmp_path: Path):
    inner = checkout / "inner"
    (inner / "objects").mkdir(parents=True)
    (inner / "refs").mkdir()
    (inner / "HEAD").write_text("ref: refs/heads/main\n")
    (inner / "config").write_text(f"[core]\n\tbare = true\n\tfsmonitor = touch {tmp_path / 'canary'}\n")
    assert "bare" in refused(inner).what
    assert not (tmp_path / "canary").exists()


def test_a_subfolder_finds_its_repository(checkout: Path):
    assert Repository.find(checkout / "pkg").root == checkout


def test_a_linked_worktree_of_the_user_is_a_repository_of_its_own(checkout: Path, tmp_path: Path, git):
    git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    found = Repository.find(tmp_path / "side")
    workspace = GitWorkspace(found, "t1")
    workspace.open()
    assert workspace.root.parent.name.startswith("side-")
    assert (workspace.root / "keep.txt").exists()


def test_the_state_is_ignored_without_touching_the_users_rules(checkout: Path, git):
    make_state_folder(Repository.find(checkout))
    (checkout / ".afresh" / "state" / "afresh.db").write_text("db")
    assert git("status", "--porcelain") == ""
    assert (checkout / ".gitignore").read_text() == "*.log\n/build/\n"


@pytest.mark.parametrize("task_id", ["", "-x", "--upload-pack=x", "a/b", "..", "a..b", "x.lock", "a b", "a\n", ".x"])
def test_an_id_that_can_be_no_branch_is_refused(task_id: str):
    with pytest.raises(BadInput):
        check_task_id(task_id)


def test_a_name_that_looks_like_an_option_is_refused(repository: Repository):
    with pytest.raises(BadInput):
        repository.commit("--upload-pack=touch canary")
