import json
from pathlib import Path

import pytest

from afresh.errors import BadInput, NotPossible
from afresh.workspace.apply_or_discard import discard_task_branch, merge_task_branch
from afresh.workspace.git import GitFailed
from afresh.workspace.repository import Repository
from afresh.workspace.worktree import GitWorkspace
from support.workspace_contract import hash_tree

MESSAGE = "Change it\n\nSince it was wrong.\n\nAfresh-Task: t1"


class Ticking:
    """An hour passes between any two looks."""

    def __init__(self) -> None:
        self.time = 1_700_000_000.0

    def now(self) -> float:
        self.time += 3_600
        return self.time


@pytest.fixture
def clock() -> Ticking:
    return Ticking()


@pytest.fixture
def opened(repository: Repository, clock: Ticking) -> GitWorkspace:
    workspace = GitWorkspace(repository, "t1", clock)
    workspace.open()
    return workspace


@pytest.fixture
def published(opened: GitWorkspace) -> str:
    (opened.root / "change.txt").write_text("after\n")
    return opened.publish(opened.snapshot(), MESSAGE)


def test_the_branch_has_one_commit_by_the_user_on_top_of_the_base(opened: GitWorkspace, published: str, git):
    base = opened.open().base
    assert git("rev-parse", "afresh/t1") == published
    assert git("rev-list", f"{base}..afresh/t1") == published
    assert git("show", "-s", "--format=%an <%ae>%n%B", published) == f"Ada <ada@example.org>\n{MESSAGE}"
    assert git("interpret-trailers", "--parse", "--no-divider", str(write(opened, git)), cwd=opened.root) == "Afresh-Task: t1"
    assert git("fsck", "--strict", "--no-dangling") == ""
    assert git("status", "--porcelain", cwd=opened.root) == ""


def write(workspace: GitWorkspace, git) -> Path:
    place = workspace.repository.root.parent / "message"
    place.write_text(git("show", "-s", "--format=%B", "afresh/t1") + "\n")
    return place


def test_a_resumed_run_publishes_the_same_commit(opened: GitWorkspace, published: str, clock: Ticking, git):
    assert git("show", "-s", "--format=%at %ct", published) == "1700003600 1700003600"
    later = GitWorkspace(opened.repository, "t1", clock)
    assert later.publish(later.snapshot(), MESSAGE) == published


def test_a_crash_before_the_branch_moved_is_made_good(opened: GitWorkspace, published: str, git):
    git("update-ref", "refs/heads/afresh/t1", opened.open().base)
    assert opened.publish(opened.snapshot(), MESSAGE) == published == git("rev-parse", "afresh/t1")


def test_publishing_something_else_replaces_the_one_commit(opened: GitWorkspace, published: str, git):
    (opened.root / "keep.txt").unlink()
    second = opened.publish(opened.snapshot(), MESSAGE)
    assert git("rev-list", f"{opened.open().base}..afresh/t1") == second != published


def test_an_unchanged_tree_makes_no_commit(opened: GitWorkspace):
    assert opened.publish(opened.snapshot(), MESSAGE) == opened.open().base


def test_without_an_identity_the_commit_is_by_afresh(opened: GitWorkspace, no_settings_of_this_machine: Path, git):
    (no_settings_of_this_machine / ".gitconfig").unlink()
    (opened.root / "new").write_text("new")
    assert git("show", "-s", "--format=%an", opened.publish(opened.snapshot(), MESSAGE)) == "afresh"


def test_commits_of_the_user_on_the_branch_are_not_overwritten(opened: GitWorkspace, published: str, git):
    git("commit", "-q", "--allow-empty", "-m", "Mine", cwd=opened.root)
    mine = git("rev-parse", "afresh/t1")
    (opened.root / "keep.txt").unlink()
    with pytest.raises(BadInput, match="did not make"):
        opened.publish(opened.snapshot(), MESSAGE)
    with pytest.raises(BadInput, match="did not make"):
        discard_task_branch(opened.repository, "t1")
    assert git("rev-parse", "afresh/t1") == mine
    assert opened.root.is_dir()


def test_apply_moves_the_checkout_forward_and_clears_up(opened: GitWorkspace, published: str, checkout: Path, git):
    done = merge_task_branch(opened.repository, "t1")
    assert (done.commit, done.how, done.note) == (published, "fast-forward", "")
    assert (checkout / "change.txt").read_text() == "after\n"
    assert git("status", "--porcelain") == ""
    assert not opened.root.exists() and git("branch", "--list", "afresh/*") == ""
    assert "worktrees/t1" not in git("worktree", "list")


def test_applying_twice_says_that_it_is_in(opened: GitWorkspace, published: str):
    merge_task_branch(opened.repository, "t1")
    again = merge_task_branch(opened.repository, "t1")
    assert again.how == "merged" and again.commit == published


def test_snapshots_can_still_be_compared_after_apply(opened: GitWorkspace, published: str):
    first, last = opened.open().snapshot, opened.snapshot()
    merge_task_branch(opened.repository, "t1")
    assert [change.path for change in GitWorkspace(opened.repository, "t1").changes(first, last)] == ["change.txt"]


def test_apply_merges_with_what_the_user_has_committed_since(opened: GitWorkspace, published: str, checkout: Path, git):
    (checkout / "keep.txt").write_text("mine\n")
    git("commit", "-qam", "Mine")
    done = merge_task_branch(opened.repository, "t1")
    assert done.how == "merge"
    assert len(git("show", "-s", "--format=%P", "HEAD").split()) == 2
    assert ((checkout / "keep.txt").read_text(), (checkout / "change.txt").read_text()) == ("mine\n", "after\n")


def test_apply_keeps_uncommitted_changes_elsewhere(opened: GitWorkspace, published: str, checkout: Path):
    (checkout / "keep.txt").write_text("uncommitted\n")
    assert merge_task_branch(opened.repository, "t1").how == "fast-forward"
    assert (checkout / "keep.txt").read_text() == "uncommitted\n"


@pytest.mark.parametrize("diverged", [False, True])
def test_apply_refuses_over_uncommitted_changes(opened: GitWorkspace, published: str, checkout: Path, git, diverged: bool):
    if diverged:
        git("commit", "-q", "--allow-empty", "-m", "Mine")
    (checkout / "change.txt").write_text("uncommitted\n")
    before, head = hash_tree(checkout, without=(".git", ".afresh")), git("rev-parse", "HEAD")
    with pytest.raises(BadInput, match=r"in the way: change\.txt") as caught:
        merge_task_branch(opened.repository, "t1")
    assert "stash" in caught.value.next and caught.value.safe
    assert hash_tree(checkout, without=(".git", ".afresh")) == before
    assert git("rev-parse", "HEAD") == head and git("rev-parse", "afresh/t1") == published


@pytest.mark.parametrize("old_git", [False, True])
def test_apply_refuses_a_conflict_and_leaves_the_checkout(
    opened: GitWorkspace, published: str, checkout: Path, git, monkeypatch: pytest.MonkeyPatch, old_git: bool
):
    if old_git:
        monkeypatch.setattr("afresh.workspace.apply_or_discard._refuse_conflicts", lambda *_: None)
    (checkout / "change.txt").write_text("mine\n")
    git("commit", "-qam", "Mine")
    (checkout / "keep.txt").write_text("uncommitted\n")
    before, status = hash_tree(checkout, without=(".git", ".afresh")), git("status", "--porcelain")
    with pytest.raises(BadInput, match="conflicts"):
        merge_task_branch(opened.repository, "t1")
    assert hash_tree(checkout, without=(".git", ".afresh")) == before
    assert git("status", "--porcelain") == status
    assert not (checkout / ".git" / "MERGE_HEAD").exists()
    assert opened.root.is_dir()


def test_apply_on_a_detached_head_moves_it_and_says_so(opened: GitWorkspace, published: str, checkout: Path, git):
    git("checkout", "-q", "--detach")
    done = merge_task_branch(opened.repository, "t1")
    assert git("rev-parse", "HEAD") == published
    assert "detached" in done.note and "git switch -c" in done.note


def test_apply_refuses_in_the_midst_of_a_merge(opened: GitWorkspace, published: str, checkout: Path):
    (checkout / ".git" / "MERGE_HEAD").write_text(published + "\n")
    with pytest.raises(BadInput, match="under way"):
        merge_task_branch(opened.repository, "t1")


@pytest.mark.parametrize("task_id", ["t1", "never"])
def test_apply_without_a_commit_is_refused(opened: GitWorkspace, task_id: str):
    with pytest.raises(BadInput, match="no commit to apply"):
        merge_task_branch(opened.repository, task_id)


def test_apply_leaves_a_tree_that_was_changed_afterwards(opened: GitWorkspace, published: str):
    (opened.root / "mine.txt").write_text("by hand")
    assert "left there" in merge_task_branch(opened.repository, "t1").note
    assert (opened.root / "mine.txt").read_text() == "by hand"


def test_discard_removes_the_task_and_nothing_else(opened: GitWorkspace, published: str, checkout: Path, tmp_path: Path, git):
    other = GitWorkspace(opened.repository, "other")
    other.open()
    git("worktree", "add", "-q", "-b", "mine", str(tmp_path / "mine"))
    (tmp_path / "mine").rename(tmp_path / "unplugged")
    (checkout / "keep.txt").write_text("uncommitted\n")
    before = hash_tree(checkout, without=(".git", ".afresh"))
    discard_task_branch(opened.repository, "t1")
    assert not opened.root.exists() and not opened.branch.shadow.exists()
    assert git("branch", "--format=%(refname:short)").split() == ["afresh/other", "main", "mine"]
    assert "/mine" in git("worktree", "list")
    assert hash_tree(checkout, without=(".git", ".afresh")) == before
    assert other.snapshot() == other.open().snapshot
    discard_task_branch(opened.repository, "t1")


def test_a_discarded_task_can_be_opened_again(opened: GitWorkspace, published: str, repository: Repository):
    discard_task_branch(repository, "t1")
    assert GitWorkspace(repository, "t1").open().base == repository.head


def test_a_git_that_is_killed_is_no_answer_and_a_half_merge_is_not_called_none(
    opened: GitWorkspace, published: str, monkeypatch: pytest.MonkeyPatch
):
    killed = GitFailed(("merge-base",), -9, "")

    def die(*_: object, **__: object) -> bytes:
        raise killed

    with monkeypatch.context() as patch, pytest.raises(GitFailed):
        patch.setattr("afresh.workspace.git.finish_git", die)
        opened.repository.contains(published, published)
    monkeypatch.setattr("afresh.workspace.apply_or_discard.run_git_as_user", die)
    with pytest.raises(NotPossible, match="half merged") as told:
        merge_task_branch(opened.repository, opened.task_id)
    assert "checkout is as it was" not in told.value.safe


def test_a_damaged_record_of_what_was_published_leaves_the_tree_after_the_merge(opened: GitWorkspace, published: str, git):
    record = opened.branch.shadow / "published.json"
    plain = json.loads(record.read_text())
    record.write_text(json.dumps(plain | {"snapshot": "0" * 40}))
    told = merge_task_branch(opened.repository, opened.task_id)
    assert told.commit == published == git("rev-parse", "HEAD") and "was left there" in told.note and opened.root.is_dir()
