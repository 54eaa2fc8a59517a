"""What the user does with a finished task: take its branch in, or throw it away."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from afresh.core.task import NOTHING_CHANGED, TaskStart
from afresh.errors import NotPossible
from afresh.workspace.checkout_changes import apply_to_checkout
from afresh.workspace.disk_files import remove_tree
from afresh.workspace.git import GitFailed, run_git_as_user
from afresh.workspace.repository import Repository
from afresh.workspace.snapshots import ShadowRepository
from afresh.workspace.task_branch import TaskBranch, find_worktree_admin, unregister_worktree
from afresh.workspace.worktree_location import find_task_environments, find_task_tree

NO_HOOKS_CONFIG = ("core.hooksPath=/dev/null", "core.fsmonitor=false")
NO_IDENTITY_PHRASES = ("tell me who you are", "empty ident", "unable to auto-detect email", "no email was given")
CHECKOUT_UNCHANGED_NOTE = "your checkout is as it was, and the task's branch is whole"


@dataclass(frozen=True, slots=True)
class ApplyResult:
    commit: str
    """The commit of HEAD now."""
    how: str
    """fast-forward, merge, merged (before, or by another commit) or "to the files of your checkout"."""
    note: str = ""


def merge_task_branch(repository: Repository, task_id: str) -> ApplyResult:
    """Merge the task's branch into the user's checkout, then remove the task's worktree and branch; its snapshots stay.

    It is the user's own merge, with the user's configuration and filters, since the checkout would be wrong without them. Hooks
    do not run: where they are kept in the tree, the task itself may have written the one that would start.
    """
    branch, tree = _find_branch_and_tree(repository, task_id)
    commit = branch.tip or branch.record.get("commit", "")
    if not commit or commit == branch.begun:
        raise NotPossible(
            f"task {task_id} has no commit to apply",
            next=f"afresh show {task_id} shows its state",
            safe=CHECKOUT_UNCHANGED_NOTE,
        )
    head = repository.head
    if is_merged(repository, head, commit):
        return ApplyResult(head, "merged", _remove_tree_and_branch(repository, branch, tree))
    _refuse_unfinished_merge(repository)
    refuse_missing_filters(repository, head, commit)
    forward = repository.contains(head, commit)
    _merge_branch(repository, branch, task_id, forward)
    lines = [_remove_tree_and_branch(repository, branch, tree)]
    if not repository.current_branch:
        lines.insert(0, "HEAD is detached, so no branch holds this commit: `git switch -c NAME` keeps it.")
    return ApplyResult(repository.head, "fast-forward" if forward else "merge", " ".join(filter(None, lines)))


def is_merged(repository: Repository, head: str, commit: str) -> bool:
    """Whether a merge would bring nothing in: the commit is there, or another one with its changes."""
    merged = repository.git.ask("merge-tree", "--write-tree", head, commit)
    return repository.contains(commit, head) or merged == repository.git.ask("rev-parse", f"{head}^{{tree}}")


def move_to_merge(repository: Repository, task_id: str, branch: str, head: str, commit: str) -> bool:
    """Move the user's branch and checkout from `head` to a merge on top of it. False if the user has moved it meanwhile."""
    _refuse_unfinished_merge(repository)
    if (repository.current_branch, repository.head) != (branch, head):
        return False
    try:
        run_git_as_user(repository.root, "merge", "--quiet", "--ff-only", commit, config=NO_HOOKS_CONFIG)
    except GitFailed as failure:
        if repository.head != head:
            return False
        raise _make_merge_error(task_id, failure) from failure
    return True


def apply_beside_changes(repository: Repository, task_id: str, start: TaskStart) -> ApplyResult:
    """Write the task's own changes into the files of the checkout, which still has the uncommitted changes that it took along.
    Nothing is committed. Worktree and branch are removed as after a merge."""
    branch, tree = _find_branch_and_tree(repository, task_id)
    commit = branch.tip or branch.record.get("commit", "")
    if not commit or commit == branch.begun:
        raise NotPossible(
            f"task {task_id} has no commit to apply", next=f"afresh show {task_id} shows its state", safe=CHECKOUT_UNCHANGED_NOTE
        )
    paths = apply_to_checkout(repository, start.carried, start.base, commit)
    note = f"Nothing is committed: {len(paths)} changed {'file is' if len(paths) == 1 else 'files are'} beside your own changes."
    text = " ".join(filter(None, [note, _remove_tree_and_branch(repository, branch, tree)]))
    return ApplyResult(repository.head, "to the files of your checkout", text)


def retire_applied_branch(repository: Repository, task_id: str) -> str:
    """Remove worktree and branch of a task whose result came in with another one; a sentence if its tree has other changes."""
    return _remove_tree_and_branch(repository, *_find_branch_and_tree(repository, task_id))


def discard_task_branch(repository: Repository, task_id: str) -> None:
    """Remove the task's worktree, branch and snapshots, and nothing else. NotPossible if the branch has other commits."""
    branch, tree = _find_branch_and_tree(repository, task_id)
    branch.must_be_free(branch.begun)
    if repository.current_branch == branch.name:
        raise NotPossible(
            f"{branch.name} is checked out", next="switch to another branch first: git switch -", safe=CHECKOUT_UNCHANGED_NOTE
        )
    unregister_worktree(repository, tree)
    _delete_branch(repository, branch)
    remove_tree(find_task_environments(repository, task_id))
    remove_tree(branch.shadow)


def retire_part_branch(repository: Repository, task_id: str) -> None:
    """Remove worktree and branch of a part that has come back; its snapshots stay, since a step may be taken again."""
    branch, tree = _find_branch_and_tree(repository, task_id)
    unregister_worktree(repository, tree)
    if repository.current_branch != branch.name and branch.ours(branch.begun):
        _delete_branch(repository, branch)


def _find_branch_and_tree(repository: Repository, task_id: str) -> tuple[TaskBranch, Path]:
    return TaskBranch.of(repository, task_id), find_task_tree(repository, task_id)


def _refuse_unfinished_merge(repository: Repository) -> None:
    for name in ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"):
        if (repository.git_dir / name).exists():
            raise NotPossible(
                "a merge, rebase or cherry-pick is under way in your checkout",
                next="finish or abort it, then apply again",
                safe=CHECKOUT_UNCHANGED_NOTE,
            )


def _merge_branch(repository: Repository, branch: TaskBranch, task_id: str, forward: bool) -> None:
    if not forward:
        _refuse_conflicts(repository, branch, task_id)
    how = ("--ff-only",) if forward else ("--no-ff", "--no-edit", "-m", f"Merge {branch.name}")
    try:
        run_git_as_user(repository.root, "merge", "--quiet", *how, branch.ref, config=NO_HOOKS_CONFIG)
    except GitFailed as failure:
        if (repository.git_dir / "MERGE_HEAD").exists():
            run_git_as_user(repository.root, "merge", "--abort", config=NO_HOOKS_CONFIG)
        raise _make_merge_error(task_id, failure) from failure


def _refuse_conflicts(repository: Repository, branch: TaskBranch, task_id: str) -> None:
    """NotPossible if the merge would conflict. Git before 2.38 can't check that; there the merge itself fails and is aborted."""
    try:
        repository.git.run("merge-tree", "--write-tree", "--name-only", "--no-messages", "HEAD", branch.ref)
    except GitFailed as failure:
        if failure.code == 1:
            raise _make_merge_error(task_id, failure) from failure


def _make_merge_error(task_id: str, failure: GitFailed) -> NotPossible:
    if failure.killed:
        return NotPossible(
            "git was killed while it merged, and may have left your checkout half merged",
            next="`git status` shows what it left, `git restore --staged --worktree FILE` takes a file back; "
            f"then: afresh apply {task_id}",
            safe="your commits and the task's branch are whole",
        )
    lines = [line.strip() for line in failure.output.splitlines() if line.startswith("\t")]
    if lines:
        return NotPossible(
            f"uncommitted changes in your checkout are in the way: {', '.join(lines[:5])}",
            next=f"commit or stash them, then: afresh apply {task_id}", safe=CHECKOUT_UNCHANGED_NOTE,
        )  # fmt: skip
    if any(phrase in failure.output for phrase in NO_IDENTITY_PHRASES):
        return NotPossible(
            "git does not know who you are, and a merge needs a name and an address",
            next="git config --global user.name NAME && git config --global user.email ADDRESS, "
            f"then: afresh apply {task_id}", safe=CHECKOUT_UNCHANGED_NOTE,
        )  # fmt: skip
    if failure.code == 1:
        where = ", ".join(failure.printed.splitlines()[1:6])
        return NotPossible(
            f"afresh/{task_id} conflicts with what you have committed since: {where}",
            next=f"merge it by hand: git merge afresh/{task_id}", safe=CHECKOUT_UNCHANGED_NOTE,
        )  # fmt: skip
    return NotPossible(f"{failure.what}", next=f"fix that, then: afresh apply {task_id}", safe=CHECKOUT_UNCHANGED_NOTE)


def _remove_tree_and_branch(repository: Repository, branch: TaskBranch, tree: Path) -> str:
    """Remove worktree and branch, unless somebody has changed the tree since: then both stay, and the sentence says so."""
    if _has_changed_since(repository, branch, tree):
        return f"The task's tree at {tree} has changes that are in no commit, so it was left there."
    unregister_worktree(repository, tree)
    remove_tree(find_task_environments(repository, tree.name))
    if repository.current_branch != branch.name:
        _delete_branch(repository, branch)
    return ""


def _has_changed_since(repository: Repository, branch: TaskBranch, tree: Path) -> bool:
    if not tree.is_dir() or not find_worktree_admin(repository, tree) or "snapshot" not in branch.record:
        return False
    shadow = ShadowRepository(branch.shadow, tree)
    shadow.make(repository)
    try:
        shadow.forget(branch.record["snapshot"])
    except GitFailed:  # the record is damaged, so nobody knows what the tree should be
        return True
    return bool(shadow.look().touched)


def _delete_branch(repository: Repository, branch: TaskBranch) -> None:
    tip = branch.tip
    if tip:
        repository.git.run("update-ref", "--no-deref", "-d", branch.ref, tip)


FILTER_SETTINGS = r"^filter\..*\.(process|smudge|clean|required)$"
ATTRIBUTES_NAME = ".gitattributes"


def refuse_missing_filters(repository: Repository, head: str, commit: str) -> None:
    """NotPossible if a changed file needs a filter that can't run: git would stop with half of the files written."""
    missing = list_missing_filters(repository)
    if not missing:
        return
    names = repository.git.run("diff", "--name-only", "-z", head, commit).decode(errors="surrogateescape").split("\0")
    used = _list_used_filters(repository, [name for name in names if name], commit)
    for name in sorted(used & missing.keys()):
        raise NotPossible(
            f"a changed file needs the filter {name!r}, and {missing[name]} is not installed",
            next=f"install {missing[name]}, or remove the filter from .gitattributes, then apply again",
            safe=NOTHING_CHANGED,
        )


def list_missing_filters(repository: Repository) -> dict[str, str]:
    """Required filters by name, with the program that is not there."""
    try:
        text = run_git_as_user(repository.root, "config", "--get-regexp", FILTER_SETTINGS).decode(errors="replace")
    except GitFailed:
        return {}
    missing, required = dict[str, str](), set[str]()
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        name, kind = key.removeprefix("filter.").rsplit(".", 1)
        program = value.split()[0] if value.split() else ""
        if kind == "required" and value.strip() == "true":
            required.add(name)
        elif kind != "required" and program and not shutil.which(program):
            missing[name] = program
    return {name: program for name, program in missing.items() if name in required}


def _list_used_filters(repository: Repository, names: list[str], commit: str) -> set[str]:
    """Filters of these files by the attributes of the checkout, and those that changed attributes name."""
    stdin = "".join(f"{name}\0" for name in names).encode(errors="surrogateescape")
    rows = run_git_as_user(repository.root, "check-attr", "-z", "--stdin", "filter", stdin=stdin).decode(errors="replace")
    used = set(rows.split("\0")[2::3])
    for name in names:
        if name.rpartition("/")[2] == ATTRIBUTES_NAME:
            text = repository.git.ask("cat-file", "blob", f"{commit}:{name}")
            used |= {word.removeprefix("filter=") for word in text.split() if word.startswith("filter=")}
    return used
