"""Runs the checks of a task on a merged tree, in the sandbox, in a worktree that exists only for that."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from afresh.app.compose import open_task_sandbox
from afresh.app.project import Project
from afresh.core.state import State
from afresh.core.task import TaskStart
from afresh.core.verdict import list_first_names
from afresh.errors import NoSandbox, NotPossible
from afresh.sandbox.escape_probe import AnySandbox
from afresh.verification.checks import CheckResult, run_check
from afresh.verification.regressions import BaselineCheck, compare_final_run, find_new_failures, load_baseline_outcomes
from afresh.workspace.apply_or_discard import CHECKOUT_UNCHANGED_NOTE, discard_task_branch, is_merged
from afresh.workspace.repository import Repository
from afresh.workspace.task_branch import TaskBranch, make_merge_commit
from afresh.workspace.worktree import GitWorkspace

MAX_CHECK_SECONDS = 30.0
"""Longer checks don't run again before a person's merge."""


def check_merged_tree(project: Project, state: State, wanted: bool) -> str:
    """Run the checks of a verified result on its merge with what was committed since, if they are short. Return what to say;
    raise NotPossible if they fail there."""
    repository, baseline, commit = Repository.find(project.paths.root), state.verification.baseline, state.workspace.commit
    head = repository.head
    if not (baseline and baseline.runs and commit) or repository.contains(head, commit) or is_merged(repository, head, commit):
        return ""
    failures, is_short = None, sum(run.seconds for run in baseline.runs) <= MAX_CHECK_SECONDS
    with suppress(NoSandbox, NotPossible):  # a git before 2.38 can't merge beside the checkout
        merge = make_merge_commit(repository, head, commit, f"Merge afresh/{state.task.id}")
        if merge.conflicts:
            return ""  # merging says where
        failures = find_merge_failures(project, state, head, merge.commit, state.unconfined) if wanted and is_short else None
    if failures:
        raise NotPossible(
            f"merged with what was committed since, this fails: {list_first_names(failures)}",
            next=f"`afresh apply {state.task.id} --no-check` merges it all the same",
            safe=CHECKOUT_UNCHANGED_NOTE,
        )
    if failures is None:
        commands = " && ".join(check.command for check in state.task.checks)
        return f"Your branch has moved since, and the merged tree was not checked: run `{commands}`."
    return "Your branch has moved since; the checks pass on the merged tree, too."


def find_merge_failures(project: Project, state: State, head: str, merged: str, no_sandbox: bool) -> tuple[str, ...]:
    """Return what is worse in the merged tree than in the task's result, in two runs, and not because of the user's branch."""
    before, ours = pair_checks_with_result(project, state), run_checks(project, state, merged, no_sandbox)
    wrong = name_problems(before, ours)
    if wrong:
        ours = run_checks(project, state, merged, no_sandbox)
        wrong &= name_problems(before, ours)
    if wrong:
        theirs = run_checks(project, state, head, no_sandbox)
        failing = frozenset(test for ran in ours for test in name_failures(ran))
        there = frozenset(test for ran in theirs for test in (*ran.outcomes.passing, ran.run.command))
        wrong -= frozenset(test for ran in theirs for test in name_failures(ran))
        wrong -= wrong - failing - there  # tests that the branch does not have any more
    return tuple(sorted(wrong))


def pair_checks_with_result(project: Project, state: State) -> list[BaselineCheck]:
    """Each check as it ended when the task was verified; what a runner loads by itself is kept with the baseline only."""
    known, verdict = state.verification, state.verification.verdict
    runs = {run.command: run for run in verdict.runs} if verdict else {}
    pairs = list[BaselineCheck]()
    for check, first in zip(state.task.checks, known.baseline.runs if known.baseline else (), strict=True):
        run = runs.get(check.command, first)
        evidence = replace(first.evidence, source=run.evidence.source, exit=run.evidence.exit)
        flaky = frozenset((*known.flaky, *(known.baseline.flaky if known.baseline else ())))
        pairs.append(BaselineCheck(replace(run, evidence=evidence), load_baseline_outcomes(project.store, run), flaky))
    return pairs


def run_checks(project: Project, state: State, commit: str, no_sandbox: bool) -> list[CheckResult]:
    """Run the checks of a task on the tree of a commit."""
    with open_commit_tree(project, state.task.id, commit, no_sandbox) as sandbox:
        return [run_check(sandbox, check) for check in state.task.checks]


def name_problems(before: Sequence[BaselineCheck], ran: Sequence[CheckResult]) -> frozenset[str]:
    """Return tests that are worse than before, and commands that are, where no test can be named."""
    pairs = [(known, compare_final_run(result, known)) for known, result in zip(before, ran, strict=True)]
    return frozenset(
        name
        for known, comparison in pairs
        if comparison.problem
        for name in ({*comparison.regressions} | find_new_failures(comparison.ran.outcomes, known) or {known.run.command})
    )


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
