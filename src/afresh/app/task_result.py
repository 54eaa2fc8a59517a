"""Shows, applies, undoes and discards the changes of a task."""

from collections.abc import Sequence
from pathlib import Path

from afresh.app.project import Project
from afresh.app.tasks import end_task, list_parts, record_events, refuse_part_of_task
from afresh.core.change import Change
from afresh.core.state import State
from afresh.core.steering_files import is_steering_file
from afresh.core.supervision_state import PersonAct, PersonRequest
from afresh.core.task import TaskStatus
from afresh.errors import BadInput, NeedsPerson
from afresh.journal.undo import is_just_undone, select_steps_to_undo, undo_steps
from afresh.workspace import apply_or_discard
from afresh.workspace.git import find_author_name
from afresh.workspace.repository import Repository
from afresh.workspace.transfer import drop_pending_work, has_pending_work, unpack_work
from afresh.workspace.worktree import GitWorkspace


def list_task_changes(project: Project, state: State) -> Sequence[Change]:
    if (
        not state.workspace.first_snapshot
        or state.workspace.snapshot == state.workspace.first_snapshot
        or state.status in (TaskStatus.APPLIED, TaskStatus.DISCARDED)
    ):
        return ()
    repository = Repository.find(project.paths.root)
    if has_pending_work(repository, state.task.id):
        return ()
    return GitWorkspace(repository, state.task.id).changes(state.workspace.first_snapshot, state.workspace.snapshot)


def apply_task_result(project: Project, task: str, unverified: bool = False) -> tuple[State, str]:
    """Merge the task's branch into the user's checkout; unverified work only with `unverified`."""
    state = project.store.load(task)
    refuse_part_of_task(state)
    if state.status is TaskStatus.APPLIED:
        raise BadInput(f"task {task} is already applied", next="there is nothing left to do")
    if not state.workspace.commit:
        raise BadInput(f"task {task} is {state.status} and has no result to apply", next=f"afresh show {task} shows its state")
    if state.status is not TaskStatus.DONE and not unverified:
        raise BadInput(
            f"the result of task {task} is not verified: {state.work.outcome}",
            next=f"review it with `afresh show {task}`, then `afresh apply {task} --unverified` to merge it anyway",
            safe="your checkout was not changed",
        )
    repository = Repository.find(project.paths.root)
    unpack_work(repository, task)
    done = apply_or_discard.merge_task_branch(repository, task)
    steering = [path for path in state.workspace.changed if is_steering_file(path)]
    notes = [done.note, f"It changes what steers afresh: {', '.join(steering)}." if steering else ""]
    said = " ".join([f"applied {task} ({done.how}): HEAD is now {done.commit[:12]}.", *filter(None, notes)])
    dismiss_parts(project, repository, task, "applied")
    return end_task(project, task, TaskStatus.APPLIED, said), said


def apply_if_wanted(project: Project, state: State) -> str:
    """Apply a verified result at once if the user's own AGENT.md says `auto_commit`. Returns what was done, or why not."""
    if (
        state.status is not TaskStatus.DONE
        or not project.instructions.defaults((state.task.judged_as, state.task.type)).auto_commit
    ):
        return ""
    try:
        return apply_task_result(project, state.task.id)[1]
    except (BadInput, NeedsPerson) as fault:
        return f"not applied, though your AGENT.md says auto_commit: {fault.what}; {fault.next}"


def discard_task_result(project: Project, task: str) -> State:
    """Remove the task's worktree and branch. The journal is kept."""
    state = project.store.load(task)
    refuse_part_of_task(state)
    if owner := next((ticket.owner for ticket in project.queue.tickets() if ticket.task == task), ""):
        raise BadInput(f"task {task} is being worked on by {owner}", next="stop that run first", safe="nothing was removed")
    if state.status in (TaskStatus.APPLIED, TaskStatus.DISCARDED):
        raise BadInput(f"task {task} is already {state.status}", next="there is nothing left to do")
    repository = Repository.find(project.paths.root)
    apply_or_discard.discard_task_branch(repository, task)
    drop_pending_work(repository, task)
    dismiss_parts(project, repository, task, "discarded")
    return end_task(project, task, TaskStatus.DISCARDED, "discarded by the user")


def dismiss_parts(project: Project, repository: Repository, task: str, fate: str) -> None:
    """Remove the worktrees, branches and snapshots of subtasks. Verified subtasks of an applied task are marked applied."""
    for ticket in list_parts(project.queue.tickets(), task):
        apply_or_discard.discard_task_branch(repository, ticket.task)
        drop_pending_work(repository, ticket.task)
        status = TaskStatus.APPLIED if fate == "applied" and ticket.status is TaskStatus.DONE else TaskStatus.DISCARDED
        if ticket.status not in (TaskStatus.APPLIED, TaskStatus.DISCARDED):
            end_task(project, ticket.task, status, f"a part of {task}, which was {fate}")


def refuse_empty_undo(project: Project, state: State, steps: int) -> None:
    """Raise BadInput if there is nothing to undo."""
    select_steps_to_undo(state.task.id, project.store, steps, "/undo 1")


def refuse_held_task(project: Project, state: State, safe: str) -> None:
    """Raise BadInput unless a person may take the task back: it is no subtask, not finished, and no worker holds it."""
    refuse_part_of_task(state)
    task = state.task.id
    if owner := next((ticket.owner for ticket in project.queue.tickets() if ticket.task == task), ""):
        raise BadInput(f"task {task} is being worked on by {owner}", next="stop that run first", safe=safe)
    if state.status.over:
        raise BadInput(f"task {task} is finished: {state.status}", next=f"afresh discard {task} deletes its work", safe=safe)


def undo_task_steps(project: Project, task: str, steps: int = 0, why: str = "") -> State:
    """Undo the last change, or the last `steps` steps, of a task that no worker holds. It is recorded before the worktree is
    changed; if an earlier undo did not reach the worktree, only that is completed."""
    state = project.store.load(task)
    refuse_held_task(project, state, "nothing was undone")
    repository = Repository.find(project.paths.root)
    unpack_work(repository, task)
    workspace = GitWorkspace(repository, task, project.clock)
    there = Path(workspace.root).exists() and not has_pending_work(repository, task)
    if there and is_just_undone(project.store.journal(task)) and workspace.snapshot() != state.workspace.snapshot:
        workspace.restore(state.workspace.snapshot)
        return state
    word = PersonRequest(PersonAct.UNDO, why, steps, by=find_author_name(project.paths.root))
    after = record_events(project, state, task, undo_steps(state, project.store, workspace, word))
    if there:
        workspace.restore(after.workspace.snapshot)
    return after
