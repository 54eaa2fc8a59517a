"""Shows, applies, undoes and discards the changes of a task."""

from collections.abc import Sequence
from socket import gethostname

from afresh.app.open_workspace import bring_task_work, drop_shared_work, publish_kept_work
from afresh.app.orders.tasks import end_task, record_events, refuse_part_of_task
from afresh.app.project import Project
from afresh.app.queue.read_tasks import find_owner
from afresh.core.change import Change
from afresh.core.state import State
from afresh.core.states.supervision_state import PersonAct, PersonRequest
from afresh.core.steering_files import describe_steering_files
from afresh.core.task import TaskStatus, TicketQuery, describe_worker
from afresh.core.verdict import NoteKind, Ruling, Verdict
from afresh.errors import BadInput, NeedsPerson, NotPossible
from afresh.journal.undo import is_just_undone, select_steps_to_undo, undo_steps
from afresh.verification.conclude_step import render_commit_message
from afresh.workspace import apply_or_discard
from afresh.workspace.git import find_author_name
from afresh.workspace.repository import Repository, list_obeyed_paths
from afresh.workspace.transfer import drop_pending_work, has_pending_work, unpack_work
from afresh.workspace.worktree import GitWorkspace
from afresh.workspace.worktree_location import find_task_tree


def list_task_changes(project: Project, state: State) -> Sequence[Change]:
    if not state.workspace.first_snapshot or state.workspace.snapshot == state.workspace.first_snapshot or state.status.closed:
        return ()
    repository = Repository.find(project.paths.root)
    if has_pending_work(repository, state.task.id):
        return ()
    bring_task_work(project, repository, state)
    return GitWorkspace(repository, state.task.id).changes(state.workspace.first_snapshot, state.workspace.snapshot)


def apply_task_result(project: Project, task: str, unverified: bool = False, note: str = "") -> tuple[State, str]:
    """Merge the task's branch into the user's checkout. With `unverified` also what a task has kept that did not come so far.
    `note`: what to say beside what was done."""
    project.store.check(task)  # what is merged must be what was recorded and verified
    state = project.store.load(task)
    refuse_part_of_task(state)
    if state.status is TaskStatus.APPLIED:
        raise NotPossible(f"task {task} is already applied", next=advise_for_finished_task(state))
    if not state.workspace.changed and not state.workspace.commit:
        raise NotPossible(f"task {task} is {state.status} and has changed nothing", next=f"afresh show {task} shows its state")
    if state.status is not TaskStatus.DONE and not unverified:
        raise NotPossible(
            f"the result of task {task} is not verified: {state.work.outcome or state.status}",
            next=f"review it with `afresh diff {task}`, then `afresh apply {task} --unverified` to merge it anyway",
            safe="your checkout was not changed",
        )
    repository = Repository.find(project.paths.root)
    unpack_work(repository, task)
    bring_task_work(project, repository, state)
    commit = "" if state.status is TaskStatus.DONE else publish_unverified(project, state)
    start = state.workspace.start
    done = (
        apply_or_discard.apply_beside_changes(repository, task, start)
        if start.carried
        else apply_or_discard.merge_task_branch(repository, task)
    )
    where = f"to {repository.current_branch} " if repository.current_branch and not start.carried else ""
    acts = describe_steering_files(state.workspace.changed, (*state.workspace.obeyed, *list_obeyed_paths(repository.root)))
    verdict = state.verification.verdict
    red, allowed = (verdict.still_failing, verdict.list_facts(NoteKind.ALLOWED)) if verdict else ("", ())
    notes = [
        *(f"{one[:1].upper()}{one[1:]}." for one in allowed),
        done.note,
        note,
        f"{red}." if red else "",
        f"What the checks do not show: {verdict.remarks}." if verdict and verdict.remarks else "",
        f"It changes what {acts}." if acts else "",
    ]
    notes += close_earlier_tasks(project, repository, state)
    merged = commit or state.workspace.commit
    if not start.carried and repository.contains(merged, done.commit):
        notes.append(f"`git revert {merged[:12]}` takes it back.")
    text = " ".join([f"applied {task} {where}({done.how}): HEAD is {done.commit[:8]}.", *filter(None, notes)])
    dismiss_parts(project, repository, task, "applied")
    applied = end_task(project, task, TaskStatus.APPLIED, text, commit)
    drop_shared_work(project, repository, state)
    return applied, text


def publish_unverified(project: Project, state: State) -> str:
    """Put on the branch what a task has kept that is not done: it may have failed, be blocked or was interrupted."""
    if owner := find_owner(project.queue, state.task.id):
        raise NotPossible(
            f"task {state.task.id} is being worked on by {describe_worker(owner, gethostname())}",
            next="stop that run first",
            safe="your checkout was not changed",
        )
    reason = f"{state.status}: {state.work.outcome}" if state.work.outcome else state.status.value
    return publish_kept_work(project, state, render_commit_message(state, state.task.goal, Verdict(Ruling.BLOCKED, reason)))


def close_earlier_tasks(project: Project, repository: Repository, state: State) -> list[str]:
    """Mark the tasks that an applied task went on from as applied, too: its branch holds their commits. Returns what to say."""
    earlier, included = list[str](), state.workspace.start.includes
    while included and not (one := project.store.load(included)).status.closed:
        earlier.append(included)
        included = one.workspace.start.includes
    lines = list[str]()
    for task in reversed(earlier):  # a crash leaves the newest ones open, where a repetition finds them
        lines += [f"It includes {task}, which is applied with it.", apply_or_discard.retire_applied_branch(repository, task)]
        dismiss_parts(project, repository, task, "applied")
        end_task(project, task, TaskStatus.APPLIED, f"applied with {state.task.id}")
    return lines


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


def list_tasks_without_result(project: Project) -> list[str]:
    """List the tasks that are over and have nothing to apply."""
    ended = project.queue.tickets(TicketQuery((TaskStatus.FAILED, TaskStatus.UNCHANGED), parents=()))
    done = project.queue.tickets(TicketQuery((TaskStatus.DONE,), parents=()))
    answered = [ticket for ticket in done if not project.store.load(ticket.task).workspace.commit]
    return [ticket.task for ticket in (*ended, *answered)]


def drop_task(project: Project, state: State, why: str) -> State:
    """End a task and remove its work. The caller knows that nobody else works on it."""
    task, repository = state.task.id, Repository.find(project.paths.root)
    apply_or_discard.discard_task_branch(repository, task)
    drop_pending_work(repository, task)
    dismiss_parts(project, repository, task, "discarded")
    dropped = end_task(project, task, TaskStatus.DISCARDED, f"discarded by the user: {why}" if why else "discarded by the user")
    drop_shared_work(project, repository, state)
    return dropped


def dismiss_parts(project: Project, repository: Repository, task: str, fate: str) -> None:
    """Remove the worktrees, branches and snapshots of subtasks. Verified subtasks of an applied task are marked applied."""
    for ticket in project.queue.tickets(TicketQuery(parents=(task,))):
        apply_or_discard.discard_task_branch(repository, ticket.task)
        drop_pending_work(repository, ticket.task)
        status = TaskStatus.APPLIED if fate == "applied" and ticket.status is TaskStatus.DONE else TaskStatus.DISCARDED
        if not ticket.status.closed:
            end_task(project, ticket.task, status, f"a part of {task}, which was {fate}")


def refuse_empty_undo(project: Project, state: State, steps: int) -> None:
    """Raise BadInput if there is nothing to undo."""
    select_steps_to_undo(state.task.id, project.store, steps, "/undo 1")


def refuse_held_task(project: Project, state: State, safe: str, reopens: bool = False) -> None:
    """Raise BadInput unless a person may take the task back: it is no subtask, no worker holds it, and it is not finished; with
    `reopens` it may be, if it is not applied or discarded."""
    refuse_part_of_task(state)
    task = state.task.id
    if owner := find_owner(project.queue, task):
        raise NotPossible(
            f"task {task} is being worked on by {describe_worker(owner, gethostname())}", next="stop that run first", safe=safe
        )
    again = (reopens or state.dialogue.turn) and state.status in (TaskStatus.DONE, TaskStatus.FAILED)
    if state.status.over and not again:
        raise NotPossible(f"task {task} is finished: {state.status}", next=advise_for_finished_task(state), safe=safe)


def advise_for_finished_task(state: State) -> str:
    """Say how a finished task can still be taken back."""
    if state.status is TaskStatus.APPLIED:
        beside = f"afresh diff {state.task.id} | git apply -R"
        return f"{beside if state.workspace.start.carried else f'git revert {state.workspace.commit[:12]}'} takes it back"
    if state.status is TaskStatus.DISCARDED:
        return "there is nothing left to do"
    if state.status is TaskStatus.UNCHANGED:
        return f"no kept change is left to undo; `afresh discard {state.task.id}` deletes its work"
    return f"`afresh undo {state.task.id}` takes its last change back and lets it go on; `afresh discard` deletes its work"


def undo_task_steps(project: Project, task: str, steps: int = 0, why: str = "") -> State:
    """Undo the last change, or the last `steps` steps, of a task that no worker holds; a finished one is ready again. It is
    recorded before the worktree is changed; if an earlier undo did not reach the worktree, only that is completed."""
    state = project.store.load(task)
    refuse_held_task(project, state, "nothing was undone", reopens=True)
    repository = Repository.find(project.paths.root)
    unpack_work(repository, task)
    bring_task_work(project, repository, state)
    workspace = GitWorkspace(repository, task, project.clock)
    there = find_task_tree(repository, task).exists() and not has_pending_work(repository, task)
    if there and is_just_undone(project.store.journal(task)) and workspace.snapshot() != state.workspace.snapshot:
        workspace.restore(state.workspace.snapshot)
        return state
    word = PersonRequest(PersonAct.UNDO, why, steps, by=find_author_name(project.paths.root))
    after = record_events(project, state, task, undo_steps(state, project.store, workspace, word))
    if there:
        workspace.restore(after.workspace.snapshot)
    return after
