"""A task's work on its way to another machine: the patch from its base to its last snapshot, and its commit if it has one.

Ids of git trees and commits are made of their content. So what is put together from base and patch either is the snapshot that
the journal names, or it is refused.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from afresh.core.state import State
from afresh.core.task import TaskStatus, check_task_id
from afresh.core.work_transfer import GIT_OBJECT_ID, TaskWork, has_transferable_work
from afresh.errors import Damaged, NotPossible
from afresh.workspace.base_commit import read_base_commit, set_ignore_rules
from afresh.workspace.diff import read_patch
from afresh.workspace.disk_files import remove_tree, write_durable_file
from afresh.workspace.environment_files import find_environment_folders, find_import_files
from afresh.workspace.git import Git, GitFailed
from afresh.workspace.repository import Repository
from afresh.workspace.snapshots import ShadowRepository
from afresh.workspace.task_branch import TaskBranch
from afresh.workspace.worktree_location import find_task_tree

OPENED_FILE = "opened.json"
"""The file in the shadow repository that says that the first opening was completed."""


@dataclass(frozen=True, slots=True)
class TransferRecord:
    """The place of the work, as the journal has it."""

    base: str
    opened: str
    snapshot: str
    note: str
    commit: str
    """Empty when none came along."""


def pack_work(repository: Repository, state: State) -> TaskWork | None:
    """What the task has changed; None when there is nothing, or its snapshots are not on this machine."""
    shadow = find_shadow(repository, state.task.id)
    if not has_transferable_work(state) or not all(
        has_tree(shadow.store, tree) for tree in (state.workspace.first_snapshot, state.workspace.snapshot)
    ):
        return None
    patch = (
        read_patch(shadow.store, state.workspace.first_snapshot, state.workspace.snapshot)
        if state.workspace.first_snapshot != state.workspace.snapshot
        else b""
    )
    if state.task.parent:
        with shadow.store.with_index("index.moved") as git:  # the index of a tree that is in use stays as it is
            return TaskWork(
                patch,
                before=read_patch(git, _write_base_tree(git, repository, state.workspace.base), state.workspace.first_snapshot),
            )
    if not _has_published_commit(repository, state):
        return TaskWork(patch)
    return TaskWork(patch, repository.git.run("cat-file", "commit", state.workspace.commit))


def _has_published_commit(repository: Repository, state: State) -> bool:
    return (
        state.workspace.commit not in ("", state.workspace.base)
        and bool(GIT_OBJECT_ID.fullmatch(state.workspace.commit))
        and bool(repository.commit(state.workspace.commit))
    )


def deliver_work(repository: Repository, state: State, work: TaskWork | None) -> None:
    """Put the work where `unpack` finds it; what is on this machine already is left alone."""
    shadow = find_shadow(repository, state.task.id)
    commit = state.workspace.commit if work and work.commit else ""
    there = has_tree(shadow.store, state.workspace.snapshot) and (shadow.folder / OPENED_FILE).exists()
    if not has_transferable_work(state) or (there and (not commit or repository.commit(commit))):
        return
    parcel = _transfer_folder(repository, state.task.id)
    remove_tree(parcel)
    parcel.mkdir(parents=True)
    if work or state.workspace.snapshot == state.workspace.first_snapshot:
        (parcel / "patch").write_bytes(work.patch if work else b"")
        (parcel / "commit").write_bytes(work.commit if work else b"")
        (parcel / "before").write_bytes(work.before if work else b"")
    bill = TransferRecord(
        state.workspace.base, state.workspace.first_snapshot, state.workspace.snapshot, state.workspace.note, commit
    )
    write_durable_file(parcel / "waybill.json", json.dumps(asdict(bill)))


def has_pending_work(repository: Repository, task: str) -> bool:
    return (_transfer_folder(repository, task) / "waybill.json").exists()


def drop_pending_work(repository: Repository, task: str) -> None:
    remove_tree(_transfer_folder(repository, task))


def unpack_work(repository: Repository, task: str) -> None:
    """Make the task's snapshots and branch of what was delivered, if anything was. NotPossible while its base is not here."""
    if not has_pending_work(repository, task):
        return
    parcel = _transfer_folder(repository, task)
    bill = TransferRecord(**json.loads((parcel / "waybill.json").read_text()))
    _refuse_missing_base(repository, task, bill.base)
    shadow, branch = find_shadow(repository, task), TaskBranch.of(repository, task)
    branch.must_be_free(bill.base)
    shadow.make(repository)
    _make_snapshots(shadow, repository, bill, parcel)
    _mark_opened(shadow, repository, branch, bill)
    if bill.commit:
        branch.adopt(bill.base, bill.snapshot, bill.commit, (parcel / "commit").read_bytes())
    remove_tree(parcel)


def adopt_work(repository: Repository, state: State) -> None:
    """Mark a task as opened here whose snapshots were brought in from elsewhere. NotPossible while its base is not here."""
    task, place = state.task.id, state.workspace
    shadow, branch = find_shadow(repository, task), TaskBranch.of(repository, task)
    if (shadow.folder / OPENED_FILE).exists():
        return
    _refuse_missing_base(repository, task, place.base)
    branch.must_be_free(place.base)
    shadow.make(repository)
    bill = TransferRecord(place.base, place.first_snapshot, place.snapshot, place.note, "")
    _mark_opened(shadow, repository, branch, bill)


def _refuse_missing_base(repository: Repository, task: str, base: str) -> None:
    if not GIT_OBJECT_ID.fullmatch(base) or not repository.commit(base):
        raise NotPossible(
            f"task {task} starts from commit {base[:12]}, which this repository does not have",
            next=f"bring it here (git fetch, or git pull in the clone that has it), then `afresh resume {task}`",
            safe="the task and its changes are kept",
        )


def _make_snapshots(shadow: ShadowRepository, repository: Repository, bill: TransferRecord, parcel: Path) -> None:
    """Make the first and the last snapshot. Damaged if they do not have the ids that the journal names."""
    with shadow.store.with_index("index.moved") as git:  # the index of a tree that is in use stays as it is
        _write_base_tree(git, repository, bill.base)
        before = (parcel / "before").read_bytes() if (parcel / "before").exists() else b""
        if _apply_patch(git, before, bill.opened) != bill.opened:
            raise _make_mismatch_error(bill.opened, "the tree that it began with")
        if has_tree(shadow.store, bill.snapshot):
            return
        if not (parcel / "patch").exists():
            raise Damaged(
                f"the export held no work of task {parcel.name}: its last snapshot {bill.snapshot[:12]} is not here",
                next="export again on the machine that has it, or discard the task and start it again",
                safe="its journal is intact",
            )
        if _apply_patch(git, (parcel / "patch").read_bytes(), bill.snapshot) != bill.snapshot:
            raise _make_mismatch_error(bill.snapshot, "what base and patch make")


def _write_base_tree(git: Git, repository: Repository, base: str) -> str:
    """The tree of the base commit without its submodules; the index is left at it."""
    git.run("read-tree", base)
    modules = [path for _, path in read_base_commit(repository.git, base).submodules]
    if modules:
        git.run("update-index", "-z", "--force-remove", "--stdin", stdin=b"".join(path + b"\0" for path in modules))
    return git.write_tree()


def _apply_patch(git: Git, patch: bytes, wanted: str) -> str:
    """The tree that the index holds after the patch."""
    try:
        if patch:
            git.run("apply", "--cached", "--whitespace=nowarn", "-", stdin=patch)
    except GitFailed as failure:
        raise _make_mismatch_error(wanted, f"what the patch says ({failure.what})") from failure
    return git.write_tree()


def _make_mismatch_error(snapshot: str, what: str) -> Damaged:
    return Damaged(
        f"snapshot {snapshot[:12]} is not {what}",
        next="export again on the machine that has it, or discard the task and start it again",
        safe="the task's journal and your checkout were not changed",
    )


def _mark_opened(shadow: ShadowRepository, repository: Repository, branch: TaskBranch, bill: TransferRecord) -> None:
    """Mark the task as opened on this machine. An existing marker has the same content: it follows from the journal."""
    marker = shadow.folder / OPENED_FILE
    if marker.exists():
        return
    unseen = (*find_environment_folders(repository), *find_import_files(repository))
    set_ignore_rules(shadow, repository, read_base_commit(repository.git, bill.base), unseen)
    branch.begin(bill.base)
    write_durable_file(marker, json.dumps({"base": bill.base, "snapshot": bill.opened, "note": bill.note}))


def has_tree(store: Git, tree: str) -> bool:
    if not GIT_OBJECT_ID.fullmatch(tree) or not store.git_dir.is_dir():
        return False
    return bool(store.ask("rev-parse", "--verify", "--quiet", tree + "^{tree}"))


def find_shadow(repository: Repository, task: str) -> ShadowRepository:
    return ShadowRepository(TaskBranch.of(repository, task).shadow, find_task_tree(repository, task))


def _transfer_folder(repository: Repository, task: str) -> Path:
    return repository.state / "moved" / check_task_id(task)


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
