"""A task's work is shared by a git remote: any clone can go on with it, and nobody's commit is replaced."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from afresh.core.state import State
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.task import Task, TaskStatus
from afresh.errors import BadInput, Damaged, LeaseLost, NeedsPerson, NotPossible
from afresh.workspace.git_remote import check_remote, clone_or_update, read_remote_ref
from afresh.workspace.repository import Repository
from afresh.workspace.shared_work import SharedPlace, SharedWorkspace, bring_work, name_snapshot_ref, remove_shared_work
from support.workspace_contract import hash_tree

TASK = Task(id="t1", goal="g")


class Clock:
    """The same time on each machine, as a worker takes it from the journal."""

    def now(self) -> float:
        return 1_700_000_000.0


@pytest.fixture
def remote(checkout: Path, tmp_path: Path) -> str:
    subprocess.run(["git", "clone", "-q", "--bare", str(checkout), str(tmp_path / "remote.git")], check=True)
    return str(tmp_path / "remote.git")


def clone(remote: str, folder: Path) -> Repository:
    clone_or_update(remote, folder)
    return Repository.find(folder)


def workspace_at(repository: Repository, state: State, remote: str, check_owner=lambda: None) -> SharedWorkspace:
    return SharedWorkspace(repository, state, Clock(), SharedPlace(remote, check_owner))


def begin(workspace: SharedWorkspace) -> State:
    opened = workspace.open()
    place = WorkspaceState(base=opened.base, branch=opened.branch, first_snapshot=opened.snapshot, note=opened.note)
    return State(task=TASK, status=TaskStatus.RUNNING, workspace=replace(place, snapshot=opened.snapshot))


def change(workspace: SharedWorkspace, state: State, name: str, text: str) -> State:
    (workspace.root / name).write_text(text)
    return replace(state, workspace=replace(state.workspace, snapshot=workspace.snapshot()))


def files(workspace: SharedWorkspace) -> dict[str, object]:
    return {name: held for name, held in hash_tree(workspace.root).items() if name != ".git"}


def new_task(repository: Repository, remote: str) -> tuple[SharedWorkspace, State]:
    workspace = workspace_at(repository, State(task=TASK), remote)
    return workspace, begin(workspace)


def test_another_clone_goes_on_from_the_last_snapshot_and_back_again(remote: str, tmp_path: Path) -> None:
    here, there = clone(remote, tmp_path / "a"), clone(remote, tmp_path / "b")
    first, state = new_task(here, remote)
    state = change(first, state, "one.txt", "1\n")
    state = change(first, state, "two.txt", "2\n")
    bring_work(there, state, remote)
    second = workspace_at(there, state, remote)
    second.open()
    second.restore(state.workspace.snapshot)
    assert files(second) == files(first)
    state = change(second, state, "three.txt", "3\n")
    bring_work(here, state, remote)
    again = workspace_at(here, state, remote)
    again.open()
    again.restore(state.workspace.snapshot)
    assert files(again) == files(second)


def test_a_snapshot_is_on_the_remote_when_it_has_a_name(remote: str, tmp_path: Path) -> None:
    workspace, state = new_task(clone(remote, tmp_path / "a"), remote)
    state = change(workspace, state, "one.txt", "1\n")
    held = subprocess.run(
        ["git", "log", "--format=%T", name_snapshot_ref("t1")], cwd=remote, capture_output=True, text=True, check=True
    ).stdout.split()
    assert held[0] == state.workspace.snapshot


def test_the_same_result_from_two_machines_is_the_same_commit(remote: str, tmp_path: Path) -> None:
    here, there = clone(remote, tmp_path / "a"), clone(remote, tmp_path / "b")
    first, state = new_task(here, remote)
    state = change(first, state, "one.txt", "1\n")
    made = first.publish(state.workspace.snapshot, "the result")
    bring_work(there, state, remote)  # the first worker died before it could record what it had pushed
    assert workspace_at(there, state, remote).publish(state.workspace.snapshot, "the result") == made
    assert read_remote_ref(there.common_dir, remote, "refs/heads/afresh/t1") == made


def test_a_later_result_of_the_task_replaces_its_earlier_one(remote: str, tmp_path: Path) -> None:
    workspace, state = new_task(clone(remote, tmp_path / "a"), remote)
    state = change(workspace, state, "one.txt", "1\n")
    workspace.publish(state.workspace.snapshot, "first")
    state = change(workspace, state, "one.txt", "2\n")
    made = workspace.publish(state.workspace.snapshot, "second")
    assert read_remote_ref(workspace.repository.common_dir, remote, "refs/heads/afresh/t1") == made


def test_a_worker_that_has_lost_the_task_replaces_nothing(remote: str, tmp_path: Path) -> None:
    here, there = clone(remote, tmp_path / "a"), clone(remote, tmp_path / "b")
    first, state = new_task(here, remote)
    stale = change(first, state, "one.txt", "of the one that hung\n")
    bring_work(there, state, remote)
    second = workspace_at(there, state, remote)
    second.open()
    state = change(second, state, "one.txt", "of the one that took over\n")
    made = second.publish(state.workspace.snapshot, "the result")

    def lost() -> None:
        raise LeaseLost("taken over")

    first.place = SharedPlace(remote, lost)
    with pytest.raises(LeaseLost):
        first.publish(stale.workspace.snapshot, "the result")
    assert read_remote_ref(here.common_dir, remote, "refs/heads/afresh/t1") == made


def test_a_commit_of_a_person_on_the_branch_stays(remote: str, checkout: Path, tmp_path: Path) -> None:
    workspace, state = new_task(clone(remote, tmp_path / "a"), remote)
    state = change(workspace, state, "one.txt", "1\n")
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "mine"], cwd=checkout, check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "mine, too"], cwd=checkout, check=True)
    subprocess.run(["git", "push", "-q", remote, "HEAD:refs/heads/afresh/t1"], cwd=checkout, check=True)
    tip = read_remote_ref(workspace.repository.common_dir, remote, "refs/heads/afresh/t1")
    with pytest.raises(NotPossible, match="a commit that this task did not make"):
        workspace.publish(state.workspace.snapshot, "the result")
    assert read_remote_ref(workspace.repository.common_dir, remote, "refs/heads/afresh/t1") == tip


def test_the_result_is_fetched_for_who_applies_it(remote: str, tmp_path: Path) -> None:
    workspace, state = new_task(clone(remote, tmp_path / "a"), remote)
    state = change(workspace, state, "one.txt", "1\n")
    made = workspace.publish(state.workspace.snapshot, "the result")
    user = clone(remote, tmp_path / "user")
    bring_work(user, replace(state, status=TaskStatus.DONE, workspace=replace(state.workspace, commit=made)), remote)
    assert user.commit("refs/heads/afresh/t1") == made


def test_removed_work_leaves_nothing_on_the_remote(remote: str, tmp_path: Path) -> None:
    workspace, state = new_task(clone(remote, tmp_path / "a"), remote)
    state = change(workspace, state, "one.txt", "1\n")
    made = workspace.publish(state.workspace.snapshot, "the result")
    remove_shared_work(workspace.repository, "t1", made, remote)
    refs = subprocess.run(["git", "for-each-ref"], cwd=remote, capture_output=True, text=True, check=True).stdout
    assert "afresh" not in refs


def test_lost_snapshots_are_named(remote: str, tmp_path: Path) -> None:
    workspace, state = new_task(clone(remote, tmp_path / "a"), remote)
    state = change(workspace, state, "one.txt", "1\n")
    subprocess.run(["git", "update-ref", "-d", name_snapshot_ref("t1")], cwd=remote, check=True)
    with pytest.raises(Damaged, match="is not on"):
        bring_work(clone(remote, tmp_path / "b"), state, remote)


def test_a_remote_that_is_gone_is_named(remote: str, tmp_path: Path) -> None:
    workspace, state = new_task(clone(remote, tmp_path / "a"), remote)
    Path(remote).rename(tmp_path / "elsewhere.git")
    with pytest.raises(NeedsPerson, match="does not answer"):
        change(workspace, state, "one.txt", "1\n")


def test_a_clone_follows_the_default_branch_and_keeps_nothing_else(remote: str, checkout: Path, tmp_path: Path) -> None:
    repository = clone(remote, tmp_path / "a")
    (repository.root / "stray.txt").write_text("left\n")
    (checkout / "new.txt").write_text("new\n")
    subprocess.run(["git", "add", "-A"], cwd=checkout, check=True)
    subprocess.run(["git", "commit", "-qm", "new"], cwd=checkout, check=True)
    subprocess.run(["git", "push", "-q", remote, "HEAD"], cwd=checkout, check=True)
    clone_or_update(remote, repository.root)
    assert (repository.root / "new.txt").read_text() == "new\n"


@pytest.mark.parametrize("given", ["", "-u", "--upload-pack=x", "ext::sh -c id", "fd::3", "a\nb"])
def test_an_address_that_is_an_option_or_a_command_is_refused(given: str) -> None:
    with pytest.raises(BadInput):
        check_remote(given)
