"""Chooses what a task begins with, where that is not HEAD: the result of another task, or the checkout as it is."""

from afresh.app.open_workspace import bring_task_work
from afresh.app.orders.tasks import find_task, refuse_part_of_task
from afresh.app.project import Project
from afresh.core.state import State
from afresh.core.task import TaskStart, TaskStatus
from afresh.errors import BadInput, NotPossible
from afresh.workspace.checkout_changes import commit_checkout
from afresh.workspace.repository import Repository
from afresh.workspace.transfer import unpack_work

NO_TASK_MADE = "no task was created"


def choose_task_start(project: Project, on: str, with_changes: bool) -> TaskStart | None:
    """Return the start that the options ask for; None for HEAD."""
    if on and with_changes:
        raise BadInput("--on and --with-changes can't be combined", next="use one of them", safe=NO_TASK_MADE)
    if with_changes:
        commit = commit_checkout(Repository.find(project.paths.root))
        return TaskStart(commit, carried=commit)
    return follow_task(project, project.store.load(find_task(project, on))) if on else None


def follow_task(project: Project, first: State) -> TaskStart:
    """Return the start of a task that goes on from the result of another. NotPossible if that has none."""
    refuse_part_of_task(first)
    task, workspace = first.task.id, first.workspace
    if first.status is TaskStatus.DISCARDED:
        raise NotPossible(f"task {task} was discarded: it has no result to go on from", next="leave out --on", safe=NO_TASK_MADE)
    if first.status is TaskStatus.APPLIED:
        return _follow_applied_task(first)
    repository = Repository.find(project.paths.root)
    unpack_work(repository, task)
    bring_task_work(project, repository, first)
    if workspace.commit in ("", workspace.base) or not repository.commit(workspace.commit):
        raise NotPossible(
            f"task {task} is {first.status} and has no result to go on from",
            next=f"`afresh resume {task}` continues it, or leave out --on",
            safe=NO_TASK_MADE,
        )
    return TaskStart(workspace.commit, workspace.start.carried, task, first.task.goal, first.work.outcome)


def _follow_applied_task(first: State) -> TaskStart:
    if first.workspace.start.carried:
        what = f"the result of task {first.task.id} is in the files of your checkout, not in a commit"
        raise NotPossible(what, next="use --with-changes instead of --on", safe=NO_TASK_MADE)
    return TaskStart(follows=first.task.id, goal=first.task.goal, outcome=first.work.outcome)
