"""A task's work goes to another clone and is the same there, or is refused."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from afresh.core.state import State
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.task import Task, TaskStatus
from afresh.core.work_transfer import TaskWork, has_commit_of_id
from afresh.errors import BadInput, Damaged
from afresh.workspace.repository import Repository
from afresh.workspace.transfer import deliver_work, has_pending_work, pack_work, unpack_work
from afresh.workspace.worktree import GitWorkspace
from afresh.workspace.worktree_location import find_worktrees_folder
from support.workspace_contract import hash_tree


@pytest.fixture
def clone(checkout: Path, tmp_path: Path) -> Repository:
    subprocess.run(["git", "clone", "-q", str(checkout), str(tmp_path / "clone")], check=True)
    return Repository.find(tmp_path / "clone")


def changed(workspace: GitWorkspace) -> State:
    """A change of every kind, and the state that tells of it."""
    opened = workspace.open()
    (workspace.root / "change.txt").write_bytes(b"after\r\nno newline at the end")
    (workspace.root / "keep.txt").unlink()
    (workspace.root / "tool.sh").chmod(0o644)
    (workspace.root / "picture.bin").write_bytes(bytes(range(256)) * 40)
    (workspace.root / os.fsdecode(b"caf\xc3\xa9 \xff.txt")).write_text("odd name\n")
    (workspace.root / "pkg" / "link").symlink_to("module.py")
    (workspace.root / "latin.txt").write_bytes("é\n".encode("latin-1"))
    place = WorkspaceState(
        base=opened.base, branch=opened.branch, first_snapshot=opened.snapshot, snapshot=workspace.snapshot(), note=opened.note
    )
    return State(task=Task(id="t1", goal="g"), status=TaskStatus.BLOCKED, workspace=place)


def files(workspace: GitWorkspace) -> dict[str, object]:
    """All but the pointer to its repository."""
    return {name: held for name, held in hash_tree(workspace.root).items() if name != ".git"}


def test_work_of_every_kind_is_the_same_in_another_clone(workspace: GitWorkspace, clone: Repository):
    state = changed(workspace)
    deliver_work(clone, state, pack_work(workspace.repository, state))
    unpack_work(clone, "t1")
    assert not has_pending_work(clone, "t1")
    there = GitWorkspace(clone, "t1")
    assert there.open().base == state.workspace.base
    there.restore(state.workspace.snapshot)
    assert files(there) == files(workspace)
    assert there.snapshot() == state.workspace.snapshot
    assert pack_work(clone, state) == pack_work(workspace.repository, state), "it can go on from there"


def test_an_unchanged_tree_needs_no_patch(workspace: GitWorkspace, clone: Repository):
    opened = workspace.open()
    task = Task(id="t1", goal="g")
    state = State(
        task=task,
        status=TaskStatus.RUNNING,
        workspace=WorkspaceState(base=opened.base, first_snapshot=opened.snapshot, snapshot=opened.snapshot),
    )
    assert pack_work(workspace.repository, state) == TaskWork(b"")
    deliver_work(clone, state, None)
    unpack_work(clone, "t1")
    GitWorkspace(clone, "t1").restore(state.workspace.snapshot)


def test_a_published_commit_is_taken_over_to_the_byte(workspace: GitWorkspace, clone: Repository, git):
    state = changed(workspace)
    commit = workspace.publish(state.workspace.snapshot, "Change it\n\nSince it was wrong.")
    state = replace(state, status=TaskStatus.DONE, workspace=replace(state.workspace, commit=commit))
    work = pack_work(workspace.repository, state)
    assert (
        work
        and work.commit
        and has_commit_of_id(work, commit)
        and not has_commit_of_id(replace(work, commit=work.commit + b"x"), commit)
    )
    deliver_work(clone, state, work)
    unpack_work(clone, "t1")
    assert git("rev-parse", "afresh/t1", cwd=clone.root) == commit
    assert git("fsck", "--strict", "--no-dangling", cwd=clone.root) == ""


def test_what_goes_on_elsewhere_comes_back_into_the_tree_it_came_from(workspace: GitWorkspace, clone: Repository):
    state = changed(workspace)
    deliver_work(clone, state, pack_work(workspace.repository, state))
    there = GitWorkspace(clone, "t1")
    there.open()
    there.restore(state.workspace.snapshot)
    (there.root / "change.txt").write_text("further\n")
    later = replace(state, workspace=replace(state.workspace, snapshot=there.snapshot()))
    deliver_work(workspace.repository, later, pack_work(clone, later))
    here = GitWorkspace(workspace.repository, "t1")
    here.open()
    here.restore(later.workspace.snapshot)
    assert (here.root / "change.txt").read_text() == "further\n" and files(here) == files(there)


def test_without_the_base_the_work_waits_for_it(workspace: GitWorkspace, clone: Repository, checkout: Path, git):
    (checkout / "new.txt").write_text("new\n")
    git("add", "-A")
    git("commit", "-qm", "Second")
    state = changed(workspace)
    deliver_work(clone, state, pack_work(workspace.repository, state))
    with pytest.raises(BadInput, match=f"starts from commit {state.workspace.base[:12]}, which this repository does not have"):
        unpack_work(clone, "t1")
    with pytest.raises(BadInput, match="starts from commit"):
        GitWorkspace(clone, "t1").open()
    git("pull", "-q", cwd=clone.root)
    GitWorkspace(clone, "t1").restore(state.workspace.snapshot)
    assert not has_pending_work(clone, "t1")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda work: replace(work, patch=work.patch.replace(b"+after", b"+other")), "is not what"),
        (lambda work: replace(work, patch=work.patch.replace(b"a/change.txt", b"a/../change.txt")), "is not what"),
        (lambda work: replace(work, patch=b"nonsense"), "is not what the patch says"),
        (lambda work: None, "held no work of task t1"),
    ],
)
def test_work_that_does_not_make_the_snapshot_is_refused(spoil, why, workspace: GitWorkspace, clone: Repository):
    state = changed(workspace)
    work = pack_work(workspace.repository, state)
    deliver_work(clone, state, spoil(work))
    with pytest.raises(Damaged, match=why):
        unpack_work(clone, "t1")
    assert not find_worktrees_folder(clone).exists()
    deliver_work(clone, state, work)
    unpack_work(clone, "t1")


def test_a_branch_of_somebody_else_is_left_alone(workspace: GitWorkspace, clone: Repository, git):
    state = changed(workspace)
    git("commit", "-q", "--allow-empty", "-m", "mine", cwd=clone.root)
    git("branch", "afresh/t1", cwd=clone.root)
    git("reset", "-q", "--hard", "HEAD~1", cwd=clone.root)
    deliver_work(clone, state, pack_work(workspace.repository, state))
    with pytest.raises(BadInput, match="holds commits that this task did not make"):
        unpack_work(clone, "t1")


def test_submodules_stay_where_they_were(checkout: Path, tmp_path: Path, git):
    git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(checkout), "sub")
    git("commit", "-qm", "With a submodule")
    subprocess.run(["git", "clone", "-q", str(checkout), str(tmp_path / "clone")], check=True)
    workspace, clone = GitWorkspace(Repository.find(checkout), "t1"), Repository.find(tmp_path / "clone")
    state = changed(workspace)
    state = replace(
        state,
        status=TaskStatus.DONE,
        workspace=replace(state.workspace, commit=workspace.publish(state.workspace.snapshot, "Change it")),
    )
    deliver_work(clone, state, pack_work(workspace.repository, state))
    unpack_work(clone, "t1")
    assert git("ls-tree", "afresh/t1", "sub", cwd=clone.root) == git("ls-tree", "HEAD", "sub")


def test_work_is_not_taken_from_a_machine_that_does_not_have_it(workspace: GitWorkspace, clone: Repository):
    state = changed(workspace)
    assert pack_work(clone, state) is None
    assert pack_work(workspace.repository, replace(state, status=TaskStatus.APPLIED)) is None
    assert pack_work(workspace.repository, replace(state, workspace=replace(state.workspace, snapshot="--all"))) is None


def test_an_export_in_the_tree_is_no_source(workspace: GitWorkspace, checkout: Path, git):
    (checkout / ".afresh/export/journals").mkdir(parents=True)
    (checkout / ".afresh/export/journals/t0.jsonl").write_text("{}\n")
    assert "export" not in workspace.open().note
    git("add", "-A")
    git("commit", "-qm", "Export")
    other = GitWorkspace(workspace.repository, "t2")
    other.open()
    assert ".afresh/export/journals/t0.jsonl" not in other.files.paths() and "keep.txt" in other.files.paths()
