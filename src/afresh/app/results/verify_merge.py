"""Runs the checks of a task on a merged tree, in the sandbox, in a worktree that exists only for that."""

from collections.abc import Iterator
from contextlib import contextmanager

from afresh.app.compose import open_task_sandbox
from afresh.app.project import Project
from afresh.core.state import State
from afresh.core.task import TaskStart
from afresh.sandbox.escape_probe import AnySandbox
from afresh.verification.baseline import load_baseline_outcomes
from afresh.verification.checks import CheckResult, run_check
from afresh.workspace.apply_or_discard import discard_task_branch
from afresh.workspace.repository import Repository
from afresh.workspace.task_branch import TaskBranch
from afresh.workspace.worktree import GitWorkspace


def find_merge_failures(project: Project, state: State, head: str, merged: str, no_sandbox: bool) -> tuple[str, ...]:
    """Return what fails in the merged tree, twice, and in neither of the two that were merged."""
    failing = find_failures(project, state, merged, no_sandbox) - find_known_failures(project, state)
    if failing:
        failing &= find_failures(project, state, merged, no_sandbox)
    if failing:
        failing -= find_failures(project, state, head, no_sandbox)
    return tuple(sorted(failing))


def find_known_failures(project: Project, state: State) -> frozenset[str]:
    """What failed when the task was verified, or fails now and then."""
    verification = state.verification
    runs = verification.verdict.runs if verification.verdict else ()
    flaky = {*verification.flaky, *(verification.baseline.flaky if verification.baseline else ())}
    failed = {name for run in runs for name in load_baseline_outcomes(project.store, run).failing}
    return frozenset(flaky | failed)


def find_failures(project: Project, state: State, commit: str, no_sandbox: bool) -> frozenset[str]:
    """Run the checks of a task on the tree of a commit. Return tests that fail, and commands that fail without naming one."""
    with open_commit_tree(project, state.task.id, commit, no_sandbox) as sandbox:
        return frozenset(name for check in state.task.checks for name in name_failures(run_check(sandbox, check)))


def name_failures(ran: CheckResult) -> frozenset[str]:
    if ran.run.exit == 0 and not ran.run.timed_out:
        return frozenset()
    return ran.outcomes.failing or frozenset((ran.run.command,))


@contextmanager
def open_commit_tree(project: Project, task: str, commit: str, no_sandbox: bool) -> Iterator[AnySandbox]:
    """A worktree at the commit, with all that tests need, removed at the end; what a crash has left there is removed first."""
    repository, name = Repository.find(project.paths.root), f"{task}-merge"
    if TaskBranch.of(repository, name).shadow.exists():
        discard_task_branch(repository, name)
    workspace = GitWorkspace(repository, name, project.clock, start=TaskStart(base=commit), wanted=project.settings.copy)
    try:
        workspace.open()
        yield open_task_sandbox(project, workspace, no_sandbox)
    finally:
        discard_task_branch(repository, name)
