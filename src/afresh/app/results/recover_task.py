"""Lists the checkpoints of a task, and takes a task back to one of them."""

from afresh.app.open_workspace import bring_task_work
from afresh.app.orders.tasks import record_events
from afresh.app.project import Project
from afresh.app.results.task_result import refuse_held_task
from afresh.config.templates.load_template import load_template
from afresh.core.state import State
from afresh.journal.recover import (
    Checkpoint,
    find_checkpoint,
    is_just_recovered,
    list_checkpoints,
    recover_from_checkpoint,
    save_before_recovery,
)
from afresh.memory.gathered_context import TraceCache
from afresh.memory.history.score import weights_from_policy
from afresh.workspace.git import find_author_name
from afresh.workspace.repository import Repository
from afresh.workspace.transfer import has_pending_work, unpack_work
from afresh.workspace.worktree import GitWorkspace
from afresh.workspace.worktree_location import find_task_tree


def list_task_checkpoints(project: Project, task: str) -> list[Checkpoint]:
    return list_checkpoints(project.store.journal(task))


def recover_task(project: Project, task: str, step: int) -> State:
    """Take a task that no worker holds back to the checkpoint after `step`. It is recorded before the worktree is changed; the
    next run puts the tree back if that was interrupted."""
    state = project.store.load(task)
    refuse_held_task(project, state, "nothing was changed")
    checkpoint = find_checkpoint(list_task_checkpoints(project, task), step, task)
    if is_just_recovered(project.store.journal(task), step):
        return state
    repository = Repository.find(project.paths.root)
    unpack_work(repository, task)
    bring_task_work(project, repository, state)
    workspace = GitWorkspace(repository, task, project.clock)
    there = find_task_tree(repository, task).exists() and not has_pending_work(repository, task)
    if saved := save_before_recovery(state, step):
        state = record_events(project, state, task, saved)
    then, weights = checkpoint.state, load_template(state.task.type, project.templates).weights
    trace = TraceCache().of(then.memory.passages, project.store.read)
    by = find_author_name(project.paths.root)
    events = recover_from_checkpoint(state, then, trace, weights_from_policy(weights).names, workspace, by)
    after = record_events(project, state, task, events)
    if there:
        workspace.restore(after.workspace.snapshot)
    return after
