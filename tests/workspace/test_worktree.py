"""Opening, also after a crash, and what the user is told."""

import os
import shutil
from pathlib import Path

import pytest

from afresh.errors import BadInput, Damaged
from afresh.workspace import git as git_commands
from afresh.workspace.git import GitFailed
from afresh.workspace.repository import Repository
from afresh.workspace.worktree import GitWorkspace
from support.workspace_contract import hash_tree


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody who lives holds a lock here."""
    monkeypatch.setattr(git_commands, "LOCK_PATIENCE_SECONDS", 0.0)


def again(workspace: GitWorkspace) -> GitWorkspace:
    """A new process."""
    return GitWorkspace(Repository.find(workspace.repository.root), workspace.task_id)


def test_a_checkout_that_was_touched_or_holds_our_own_files_has_no_uncommitted_changes(
    checkout: Path, workspace: GitWorkspace, git
):
    for path in checkout.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, (1, 1))
    (checkout / ".afresh" / "knowledge").mkdir(parents=True, exist_ok=True)
    (checkout / ".afresh" / "config.toml").write_text("")
    (checkout / ".afresh" / "knowledge" / "KO-1.md").write_text("x")
    assert "uncommitted" not in workspace.open().note


def test_uncommitted_changes_stay_out_and_are_named(checkout: Path, workspace: GitWorkspace, git):
    (checkout / "change.txt").write_text("mine\n")
    (checkout / "staged.txt").write_text("staged\n")
    git("add", "staged.txt")
    (checkout / "new.txt").write_text("new\n")
    (checkout / "pkg" / "module.py").unlink()
    before, status = hash_tree(checkout, without=(".git", ".afresh")), git("status", "--porcelain")
    note = workspace.open().note
    assert note == "4 uncommitted changes stay in your checkout, outside the task: change.txt, new.txt, pkg/module.py and 1 more."
    assert (workspace.root / "change.txt").read_text() == "before\n"
    assert not (workspace.root / "new.txt").exists()
    assert hash_tree(checkout, without=(".git", ".afresh")) == before
    assert git("status", "--porcelain") == status


def test_a_clean_checkout_needs_no_note(workspace: GitWorkspace):
    assert workspace.open().note == ""


def test_a_detached_head_is_the_base(checkout: Path, workspace: GitWorkspace, git):
    git("checkout", "-q", "--detach")
    assert workspace.open().base == git("rev-parse", "HEAD")


def test_the_base_stays_when_head_moves(checkout: Path, workspace: GitWorkspace, git):
    first = workspace.open()
    git("commit", "-q", "--allow-empty", "-m", "Later")
    assert again(workspace).open() == first


def test_submodules_and_pointers_are_left_and_named(checkout: Path, workspace: GitWorkspace, git):
    commit = git("rev-parse", "HEAD")
    git("update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
    (checkout / ".gitmodules").write_text('[submodule "sub"]\n\tpath = sub\n\turl = ext::sh -c touch% canary\n')
    (checkout / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"
    (checkout / "big.bin").write_text(pointer)
    git("add", ".gitmodules", ".gitattributes", "big.bin")
    git("commit", "-qm", "Submodule")
    opened = workspace.open()
    assert "Submodules are left as they are, without content: sub." in opened.note
    assert "Files in Git LFS are left as pointers: *.bin." in opened.note
    assert (workspace.root / "big.bin").read_text() == pointer
    (workspace.root / "new.txt").write_text("new")
    published = workspace.publish(workspace.snapshot(), "New")
    assert git("diff", "--name-only", opened.base, published) == "new.txt"
    assert f"160000 commit {commit}\tsub" in git("ls-tree", published)


def test_what_is_written_where_a_submodule_is_can_not_hide(checkout: Path, workspace: GitWorkspace, git):
    git("update-index", "--add", "--cacheinfo", f"160000,{git('rev-parse', 'HEAD')},sub")
    git("commit", "-qm", "Submodule")
    opened = workspace.open()
    (workspace.root / "sub").mkdir()
    (workspace.root / "sub" / "helper.py").write_text("x = 1\n")
    snapshot = workspace.snapshot()
    assert [change.path for change in workspace.changes(opened.snapshot, snapshot)] == ["sub/helper.py"]
    assert git("ls-tree", "-r", "--name-only", workspace.publish(snapshot, "New"), "sub") == "sub/helper.py"


def break_pointer(workspace: GitWorkspace) -> None:
    (workspace.root / ".git").unlink()


def break_folder(workspace: GitWorkspace) -> None:
    shutil.rmtree(workspace.root)


def break_registration(workspace: GitWorkspace) -> None:
    shutil.rmtree(workspace.repository.common_dir / "worktrees")


def break_index(workspace: GitWorkspace) -> None:
    (workspace.branch.shadow / "index").write_bytes(b"DIRC rubbish")
    (workspace.branch.shadow / "index.lock").touch()


def break_branch(workspace: GitWorkspace) -> None:
    workspace.repository.git.run("update-ref", "-d", workspace.branch.ref)


def leave_locks(workspace: GitWorkspace) -> None:
    """As a git does that is killed."""
    common = workspace.repository.common_dir
    admin = common / "worktrees" / workspace.root.name
    for place in (common / workspace.branch.ref, admin / "HEAD", admin / "index", workspace.branch.shadow / "HEAD"):
        place.with_name(f"{place.name}.lock").touch()
    (workspace.branch.shadow / "ready").unlink()
    break_pointer(workspace)


BREAKS = [break_pointer, break_folder, break_registration, break_index, break_branch, leave_locks]


@pytest.mark.parametrize("harm", BREAKS)
def test_a_damaged_workspace_is_mended_and_keeps_its_snapshots(opened: GitWorkspace, harm, git):
    first = opened.open()
    (opened.root / "change.txt").write_text("step 1\n")
    snapshot, content = opened.snapshot(), hash_tree(opened.root, without=(".git",))
    harm(opened)
    later = again(opened)
    assert later.open() == first
    later.restore(snapshot)
    assert hash_tree(later.root, without=(".git",)) == content
    assert git("-C", str(later.root), "rev-parse", "--abbrev-ref", "HEAD") == "afresh/t1"
    assert later.snapshot() == snapshot


@pytest.mark.parametrize("harm", [lambda workspace: None, *BREAKS])
def test_a_half_made_opening_is_made_whole(opened: GitWorkspace, harm):
    first, content = opened.open(), hash_tree(opened.root, without=(".git",))
    (opened.branch.shadow / "opened.json").unlink()
    (opened.root / "pkg" / "module.py").unlink()
    (opened.root / "half").write_text("half")
    harm(opened)
    later = again(opened)
    assert later.open() == first
    assert hash_tree(later.root, without=(".git",)) == content
    assert later.snapshot() == first.snapshot


def test_a_lost_shadow_is_rebuilt_and_the_tree_that_was_there_is_still_a_snapshot(opened: GitWorkspace):
    first = opened.open()
    (opened.root / "change.txt").write_text("step 1\n")
    snapshot, content = opened.snapshot(), hash_tree(opened.root, without=(".git",))
    shutil.rmtree(opened.branch.shadow)
    later = again(opened)
    assert later.open() == first
    assert later.snapshot() == first.snapshot
    later.restore(snapshot)
    assert hash_tree(later.root, without=(".git",)) == content


def test_a_snapshot_that_is_lost_is_said_to_be_and_nothing_is_touched(opened: GitWorkspace):
    (opened.root / "change.txt").write_text("work")
    for lost in ("0" * 40, "--help", ""):
        with pytest.raises(Damaged):
            opened.restore(lost)
    assert (opened.root / "change.txt").read_text() == "work"


def test_a_branch_that_somebody_else_made_is_not_taken(checkout: Path, workspace: GitWorkspace, git):
    git("checkout", "-qb", "afresh/t1")
    git("commit", "-q", "--allow-empty", "-m", "Mine")
    mine = git("rev-parse", "HEAD")
    git("checkout", "-q", "-")
    with pytest.raises(BadInput, match="did not make"):
        workspace.open()
    assert git("rev-parse", "afresh/t1") == mine


def test_a_half_made_branch_is_known_again_after_an_amended_head(checkout: Path, opened: GitWorkspace, git):
    (opened.branch.shadow / "opened.json").unlink()
    git("commit", "-q", "--amend", "-m", "Amended")
    assert again(opened).open().base == git("rev-parse", "HEAD")


def test_two_tasks_do_not_meet(repository: Repository):
    one, two = GitWorkspace(repository, "one"), GitWorkspace(repository, "two")
    one.open()
    two.open()
    (one.root / "change.txt").write_text("one")
    assert two.snapshot() == two.open().snapshot
    assert one.snapshot() != two.snapshot()


def test_a_moved_repository_goes_on(checkout: Path, opened: GitWorkspace):
    (opened.root / "change.txt").write_text("step")
    snapshot = opened.snapshot()
    moved = checkout.rename(checkout.with_name("moved"))
    later = GitWorkspace(Repository.find(moved), "t1")
    later.open()
    later.restore(snapshot)
    assert (later.root / "change.txt").read_text() == "step"


def test_ignored_files_survive_a_restore(opened: GitWorkspace):
    snapshot = opened.snapshot()
    (opened.root / "run.log").write_text("log")
    (opened.root / "pkg" / "__pycache__").mkdir()
    (opened.root / "pkg" / "__pycache__" / "module.pyc").write_text("cache")
    assert opened.snapshot() == snapshot
    (opened.root / "pkg" / "module.py").write_text("changed")
    opened.restore(snapshot)
    assert (opened.root / "run.log").read_text() == "log"
    assert (opened.root / "pkg" / "__pycache__" / "module.pyc").exists()


def test_a_file_that_is_tracked_is_restored_though_a_rule_ignores_it(checkout: Path, workspace: GitWorkspace, git):
    (checkout / "kept.log").write_text("tracked\n")
    git("add", "-f", "kept.log")
    git("commit", "-qm", "Log")
    opened = workspace.open()
    (workspace.root / "kept.log").write_text("changed\n")
    assert workspace.snapshot() != opened.snapshot
    workspace.restore(opened.snapshot)
    assert (workspace.root / "kept.log").read_text() == "tracked\n"


def test_the_users_own_rules_for_all_repositories_hold(workspace: GitWorkspace, no_settings_of_this_machine: Path):
    rules = no_settings_of_this_machine / ".config" / "git"
    rules.mkdir(parents=True)
    (rules / "ignore").write_text("*.mine\n")
    opened = workspace.open()
    (workspace.root / "x.mine").write_text("x")
    assert workspace.snapshot() == opened.snapshot


def test_names_of_any_kind_are_kept(opened: GitWorkspace):
    before = opened.snapshot()
    for name in ("with space", "new\nline", "quote\"'", "tab\t", "-dash", "ümlaut", ":(glob)*", "back\\slash", "[a]*?"):
        (opened.root / name).write_text(name)
    with open(os.fsencode(opened.root) + b"/latin\xe9", "w") as file:
        file.write("bytes")
    snapshot, content = opened.snapshot(), hash_tree(opened.root, without=(".git",))
    opened.restore(before)
    opened.restore(snapshot)
    assert hash_tree(opened.root, without=(".git",)) == content
    changed = [change.path for change in opened.changes(before, snapshot)]
    assert "latin\\xe9" in changed and "new\nline" in changed and len(changed) == 10
    opened.restore(before, ["latin\\xe9", ":(glob)*"])
    assert len(opened.changes(before, opened.snapshot())) == 8


def test_binary_files_links_and_modes_are_shown_as_changes(opened: GitWorkspace):
    before = opened.snapshot()
    (opened.root / "data.bin").write_bytes(bytes(range(256)))
    (opened.root / "tool.sh").chmod(0o644)
    (opened.root / "keep.txt").unlink()
    (opened.root / "keep.txt").symlink_to("change.txt")
    (opened.root / "diff.txt").write_text("diff --git a/x b/x\n--- a/x\nBinary files \n")
    found = {change.path: change for change in opened.changes(before, opened.snapshot())}
    assert (found["data.bin"].patch, found["data.bin"].added) == ("", 0)
    assert "new mode 100644" in found["tool.sh"].patch
    assert found["keep.txt"].kind == "modified" and "120000" in found["keep.txt"].patch
    assert found["diff.txt"].added == 3 and found["diff.txt"].patch.count("\n+") == 4


def test_a_sha256_repository_works(tmp_path: Path, git):
    git("init", "-q", "--object-format=sha256", "other", cwd=tmp_path)
    root = tmp_path / "other"
    (root / "a").write_text("a")
    git("add", "-A", cwd=root)
    git("commit", "-qm", "First", cwd=root)
    workspace = GitWorkspace(Repository.find(root), "t1")
    workspace.open()
    (workspace.root / "a").write_text("b")
    published = workspace.publish(workspace.snapshot(), "Change")
    assert git("show", f"{published}:a", cwd=root) == "b"


def test_a_snapshot_is_synced_with_its_folders_and_a_restore_writes_no_objects(
    opened: GitWorkspace, monkeypatch: pytest.MonkeyPatch
):
    synced: list[Path] = []
    monkeypatch.setattr("afresh.workspace.snapshots.sync_folder", synced.append)
    before = opened.snapshot()
    objects = opened.branch.shadow / "objects"
    had = set(objects.glob("??/*"))
    (opened.root / "change.txt").write_text("not kept")
    opened.restore(before)
    assert set(objects.glob("??/*")) == had and synced == []
    (opened.root / "change.txt").write_text("kept")
    opened.snapshot()
    new = set(objects.glob("??/*")) - had
    assert len(new) == 2 and {place.parent for place in new} | {objects} <= set(synced)
    settings = (opened.branch.shadow / "config").read_text()
    assert "fsync = objects" in settings or "fsyncObjectFiles = true" in settings


def test_the_branch_moves_although_a_killed_git_has_left_its_locks(opened: GitWorkspace, git):
    opened.open()
    (opened.root / "change.txt").write_text("step 1\n")
    snapshot = opened.snapshot()
    leave_locks(opened)
    commit = again(opened).publish(snapshot, "Change")
    assert git("rev-parse", opened.branch.ref) == commit


def test_a_lock_where_others_write_is_left_and_named(opened: GitWorkspace):
    opened.open()
    lock = opened.repository.common_dir / "index.lock"
    lock.touch()
    with pytest.raises(GitFailed, match=r"index\.lock exists") as told:
        opened.repository.git.run("read-tree", "HEAD")
    assert lock.exists() and "remove this file" in told.value.next


def test_a_lock_that_is_given_back_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    lock = tmp_path / "shadow/index.lock"
    lock.parent.mkdir()
    lock.touch()
    monkeypatch.setattr(git_commands, "LOCK_PATIENCE_SECONDS", 60.0)
    monkeypatch.setattr(git_commands.time, "sleep", lambda seconds: lock.write_text("of another git, that lives"))
    assert git_commands.remove_dead_lock(lock) and lock.exists()
