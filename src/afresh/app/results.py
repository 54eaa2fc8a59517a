"""What a task has made: to look at, to take over, to throw away."""

from collections.abc import Sequence

from afresh.adapters.workspace import branch
from afresh.adapters.workspace.moved import drop, pending, unpack
from afresh.adapters.workspace.repository import Repository
from afresh.adapters.workspace.worktree import GitWorkspace
from afresh.app.delegates import parts_of
from afresh.app.tasks import Desk, end
from afresh.domain.change import Change
from afresh.domain.state import State
from afresh.domain.task import Status
from afresh.errors import BadInput


def changes(desk: Desk, state: State) -> Sequence[Change]:
    if not state.opened or state.snapshot == state.opened or state.status in (Status.APPLIED, Status.DISCARDED):
        return ()
    repository = Repository.find(desk.project.root)
    if pending(repository, state.task.id):
        return ()
    return GitWorkspace(repository, state.task.id).changes(state.opened, state.snapshot)


def apply(desk: Desk, task: str, unverified: bool = False) -> tuple[State, str]:
    """Merge the task's branch into the user's checkout; only what was verified, unless the user says otherwise."""
    state = desk.store.load(task)
    refuse_part(state)
    if state.status is Status.APPLIED:
        raise BadInput(f"task {task} is applied already", next="nothing is left to do")
    if not state.commit:
        raise BadInput(
            f"task {task} is {state.status} and has no result to apply", next=f"afresh show {task} tells where it stands"
        )
    if state.status is not Status.DONE and not unverified:
        raise BadInput(
            f"the result of task {task} is not verified: {state.outcome}",
            next=f"look at it with `afresh show {task}`, then `afresh apply {task} --unverified` if you want it all the same",
            safe="your checkout is as it was",
        )
    repository = Repository.find(desk.project.root)
    unpack(repository, task)
    done = branch.apply(repository, task)
    said = f"applied {task} ({done.how}): HEAD is now {done.commit[:12]}. {done.note}".strip()
    dismiss(desk, repository, task, "applied")
    return end(desk, task, Status.APPLIED, said), said


def discard(desk: Desk, task: str) -> State:
    """Remove the task's worktree and branch. Its journal stays."""
    state = desk.store.load(task)
    refuse_part(state)
    if owner := next((ticket.owner for ticket in desk.queue.tickets() if ticket.task == task), ""):
        raise BadInput(f"task {task} is being worked on by {owner}", next="stop that run first", safe="nothing was removed")
    if state.status in (Status.APPLIED, Status.DISCARDED):
        raise BadInput(f"task {task} is {state.status} already", next="nothing is left to do")
    repository = Repository.find(desk.project.root)
    branch.discard(repository, task)
    drop(repository, task)
    dismiss(desk, repository, task, "discarded")
    return end(desk, task, Status.DISCARDED, "discarded by the user")


def refuse_part(state: State) -> None:
    if parent := state.task.parent:
        raise BadInput(
            f"{state.task.id} is a part of {parent}: what it made is in the result of that task, or was given up",
            next=f"afresh show {parent} tells where it stands",
            safe="nothing was changed",
        )


def dismiss(desk: Desk, repository: Repository, task: str, fate: str) -> None:
    """The parts of a task go with it: trees, branches and snapshots. What was verified and taken over counts as applied."""
    for ticket in parts_of(desk.queue.tickets(), task):
        branch.discard(repository, ticket.task)
        drop(repository, ticket.task)
        status = Status.APPLIED if fate == "applied" and ticket.status is Status.DONE else Status.DISCARDED
        if ticket.status not in (Status.APPLIED, Status.DISCARDED):
            end(desk, ticket.task, status, f"a part of {task}, which was {fate}")
