"""What a task has made: to look at, to take over, to throw away."""

from collections.abc import Sequence

from afresh.adapters.workspace import branch
from afresh.adapters.workspace.moved import drop_pending_work, has_pending_work, unpack_work
from afresh.adapters.workspace.repository import Repository
from afresh.adapters.workspace.worktree import GitWorkspace
from afresh.app.delegates import list_parts
from afresh.app.tasks import Project, end_task
from afresh.domain.change import Change
from afresh.domain.state import State
from afresh.domain.task import TaskStatus
from afresh.errors import BadInput


def list_task_changes(desk: Project, state: State) -> Sequence[Change]:
    if not state.opened or state.snapshot == state.opened or state.status in (TaskStatus.APPLIED, TaskStatus.DISCARDED):
        return ()
    repository = Repository.find(desk.project.root)
    if has_pending_work(repository, state.task.id):
        return ()
    return GitWorkspace(repository, state.task.id).changes(state.opened, state.snapshot)


def apply_task_result(desk: Project, task: str, unverified: bool = False) -> tuple[State, str]:
    """Merge the task's branch into the user's checkout; only what was verified, unless the user says otherwise."""
    state = desk.store.load(task)
    refuse_part_of_task(state)
    if state.status is TaskStatus.APPLIED:
        raise BadInput(f"task {task} is applied already", next="nothing is left to do")
    if not state.commit:
        raise BadInput(
            f"task {task} is {state.status} and has no result to apply", next=f"afresh show {task} tells where it stands"
        )
    if state.status is not TaskStatus.DONE and not unverified:
        raise BadInput(
            f"the result of task {task} is not verified: {state.outcome}",
            next=f"look at it with `afresh show {task}`, then `afresh apply {task} --unverified` if you want it all the same",
            safe="your checkout is as it was",
        )
    repository = Repository.find(desk.project.root)
    unpack_work(repository, task)
    done = branch.merge_task_branch(repository, task)
    said = f"applied {task} ({done.how}): HEAD is now {done.commit[:12]}. {done.note}".strip()
    dismiss_parts(desk, repository, task, "applied")
    return end_task(desk, task, TaskStatus.APPLIED, said), said


def discard_task_result(desk: Project, task: str) -> State:
    """Remove the task's worktree and branch. Its journal stays."""
    state = desk.store.load(task)
    refuse_part_of_task(state)
    if owner := next((ticket.owner for ticket in desk.queue.tickets() if ticket.task == task), ""):
        raise BadInput(f"task {task} is being worked on by {owner}", next="stop that run first", safe="nothing was removed")
    if state.status in (TaskStatus.APPLIED, TaskStatus.DISCARDED):
        raise BadInput(f"task {task} is {state.status} already", next="nothing is left to do")
    repository = Repository.find(desk.project.root)
    branch.discard_task_branch(repository, task)
    drop_pending_work(repository, task)
    dismiss_parts(desk, repository, task, "discarded")
    return end_task(desk, task, TaskStatus.DISCARDED, "discarded by the user")


def refuse_part_of_task(state: State) -> None:
    if parent := state.task.parent:
        raise BadInput(
            f"{state.task.id} is a part of {parent}: what it made is in the result of that task, or was given up",
            next=f"afresh show {parent} tells where it stands",
            safe="nothing was changed",
        )


def dismiss_parts(desk: Project, repository: Repository, task: str, fate: str) -> None:
    """The parts of a task go with it: trees, branches and snapshots. What was verified and taken over counts as applied."""
    for ticket in list_parts(desk.queue.tickets(), task):
        branch.discard_task_branch(repository, ticket.task)
        drop_pending_work(repository, ticket.task)
        status = TaskStatus.APPLIED if fate == "applied" and ticket.status is TaskStatus.DONE else TaskStatus.DISCARDED
        if ticket.status not in (TaskStatus.APPLIED, TaskStatus.DISCARDED):
            end_task(desk, ticket.task, status, f"a part of {task}, which was {fate}")
