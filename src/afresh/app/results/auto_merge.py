"""Merges verified results into the user's branch, in the order of the queue. The branch moves only to a merge whose checks have
passed; nothing is merged in the checkout itself, so that a crash leaves a branch that was verified."""

from collections.abc import Callable

from afresh.app.project import Project
from afresh.app.results.merge_follow_up import find_follow_up, order_follow_up
from afresh.app.results.task_result import apply_task_result
from afresh.app.results.verify_merge import check_merged_tree, find_merge_failures
from afresh.core.refused_merge import RefusedMerge
from afresh.core.state import State
from afresh.core.task import TaskStatus, TicketQuery
from afresh.core.verdict import NoteKind
from afresh.errors import NotPossible
from afresh.workspace.apply_or_discard import is_merged, move_to_merge
from afresh.workspace.disk_files import hold_file_lock
from afresh.workspace.repository import Repository
from afresh.workspace.task_branch import TaskBranch, make_merge_commit
from afresh.workspace.transfer import unpack_work

MAX_ATTEMPTS = 3
"""Of one merge, when the branch moves while its checks run."""
WAITING_STATUSES = (TaskStatus.READY, TaskStatus.BLOCKED)


def merge_results(
    project: Project, no_sandbox: bool, say: Callable[[str, str], None], check_stopped: Callable[[], None] = lambda: None
) -> None:
    """Merge what can be merged, one after another. `say` is called with each task and what came of it."""
    with hold_file_lock(project.paths.state / "merge.lock"):
        while state := find_next_result(project):
            check_stopped()
            say(state.task.id, merge_result(project, state, no_sandbox))


def find_next_result(project: Project) -> State | None:
    """Return the first verified result in the order of the queue. It waits for earlier tasks that are being worked on, unless
    another task needs it to begin."""
    is_held = False
    for ticket in project.queue.tickets(TicketQuery((TaskStatus.DONE, TaskStatus.RUNNING), parents=())):
        if ticket.status is TaskStatus.RUNNING:
            is_held = is_held or bool(ticket.owner)
        elif not is_held or is_needed(project, ticket.task):
            state = project.store.load(ticket.task)
            if can_be_merged(project, state):
                return state
    return None


def is_needed(project: Project, task: str) -> bool:
    return any(task in ticket.needs for ticket in project.queue.tickets(TicketQuery((TaskStatus.READY,), parents=())))


def can_be_merged(project: Project, state: State) -> bool:
    """Whether its branch holds the verified commit and nothing else. Results of runs and conversations, work on uncommitted
    changes, and a PASS beside red tests after which nothing has turned green are left to the user; for what was refused there is
    another task."""
    workspace, verdict, watched = state.workspace, state.verification.verdict, state.task.attended or state.dialogue.turn
    if not workspace.commit or workspace.start.carried or watched or find_follow_up(project, state):
        return False
    if verdict and verdict.still_failing and any(note.kind is NoteKind.NOT_SHOWN for note in verdict.notes):
        return False
    repository = Repository.find(project.paths.root)
    unpack_work(repository, state.task.id)
    tip = TaskBranch.of(repository, state.task.id).tip
    return tip == workspace.commit or repository.contains(workspace.commit, repository.head)


def apply_checked(project: Project, task: str, unverified: bool = False, check: bool = True) -> tuple[State, str]:
    """Merge a task's branch as a person asks for it; with `check` not if its checks fail on the merged tree."""
    state = project.store.load(task)
    is_verified = state.status is TaskStatus.DONE and not state.workspace.start.carried
    return apply_task_result(project, task, unverified, check_merged_tree(project, state, check) if is_verified else "")


def merge_result(project: Project, state: State, no_sandbox: bool) -> str:
    """Merge one result, or order a task for it. Return what was done."""
    repository, commit, task = Repository.find(project.paths.root), state.workspace.commit, state.task.id
    for _ in range(MAX_ATTEMPTS):
        branch, head = repository.current_branch, repository.head
        if not branch:
            raise NotPossible("HEAD is detached: there is no branch to merge into", next="git switch BRANCH, then go on")
        if is_merged(repository, head, commit) or repository.contains(head, commit):
            return apply_task_result(project, task)[1]  # it is in, or its own tree becomes the branch's, and that was verified
        merge = make_merge_commit(repository, head, commit, f"Merge afresh/{task}")
        failures = () if merge.conflicts else find_merge_failures(project, state, head, merge.commit, no_sandbox)
        if merge.conflicts or failures:
            return order_follow_up(project, state, RefusedMerge(task, commit, merge.conflicts, failures))
        if move_to_merge(repository, task, branch, head, merge.commit):
            return apply_task_result(project, task)[1]
    raise NotPossible(
        f"your branch has moved {MAX_ATTEMPTS} times while the merge of {task} was checked",
        next="try again when it is at rest",
        safe="nothing was merged; the result is kept",
    )
