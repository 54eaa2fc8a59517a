"""Holds, releases and discards tasks. The worker that has one is asked, and obeys before its next call."""

from collections.abc import Callable

from afresh.app.orders.tasks import record_events, refuse_part_of_task
from afresh.app.project import Project
from afresh.app.queue.read_tasks import find_owner
from afresh.app.queue.retry_task import retry_task
from afresh.app.results.task_result import advise_for_finished_task, drop_task
from afresh.core.redaction import redact_secrets
from afresh.core.state import State
from afresh.core.states.queue_state import HoldChanged, HoldKind, StopAct, StopRequest, TaskHold
from afresh.core.task import TaskStatus
from afresh.core.truncate import to_one_line
from afresh.errors import NotPossible
from afresh.workspace.git import find_author_name

NOTHING_CHANGED = "nothing was changed"
MAX_REASON_CHARACTERS = 500


def pause_task(project: Project, task: str, reason: str = "") -> tuple[State, str]:
    """Pause a task. Returns its state, and the worker that was asked to stop before its next call; empty: it is paused now."""
    by = find_author_name(project.paths.root)
    hold = TaskHold(HoldKind.PAUSED, clean_reason(reason), by)
    with project.storage.transaction():
        state = project.store.load(task)
        refuse_part_of_task(state)
        if state.status.over:
            advice = f"`afresh discard {task}` drops its result" if not state.status.closed else f"afresh show {task}"
            raise NotPossible(f"{task} is over: it is {state.status}", next=advice, safe=NOTHING_CHANGED)
        return _act_or_ask(project, state, StopRequest(StopAct.PAUSE, hold.reason, by), lambda: _hold(project, state, hold))


def discard_task(project: Project, task: str, reason: str = "") -> tuple[State, str]:
    """End a task and remove its worktree and branch; the journal is kept, with the reason. Returns its state, and the worker that
    was asked to do it before its next call; empty: it is discarded now."""
    reason = clean_reason(reason)
    with project.storage.transaction():
        state = project.store.load(task)
        refuse_part_of_task(state)
        if state.status.closed:
            raise NotPossible(f"task {task} is already {state.status}", next=advise_for_finished_task(state))
        request = StopRequest(StopAct.CANCEL, reason, find_author_name(project.paths.root))
        return _act_or_ask(project, state, request, lambda: drop_task(project, state, reason))


def release_task(project: Project, task: str) -> State:
    """Let workers have a held task again; a failed or discarded one is tried again."""
    with project.storage.transaction():
        state = project.store.load(task)
        refuse_part_of_task(state)
        if state.status.retried:
            return retry_task(project, task)
        if state.place.hold is None:
            raise NotPossible(f"nobody holds {task}: it is {state.status}", next=f"afresh show {task}", safe=NOTHING_CHANGED)
        return record_events(project, state, task, [HoldChanged(None, find_author_name(project.paths.root))])


def end_pause(project: Project, task: str) -> None:
    """End a pause or an interruption because a person asks for work on the task."""
    if project.store.load(task).place.hold:
        release_task(project, task)


def keep_from_workers(project: Project, task: str) -> None:
    """Hold a task that its person has stopped with Ctrl-C, unless it rests already or somebody else has it."""
    with project.storage.transaction():
        state = project.store.load(task)
        if state.status in (TaskStatus.READY, TaskStatus.RUNNING) and not find_owner(project.queue, task):
            _hold(project, state, TaskHold(HoldKind.INTERRUPTED, by=find_author_name(project.paths.root)))


def obey_request(project: Project, task: str, request: StopRequest) -> State:
    """Do what a person has asked of the worker that holds the task; that worker is the caller."""
    state = project.store.load(task)
    if request.act is StopAct.CANCEL:
        return drop_task(project, state, request.reason)
    return _hold(project, state, TaskHold(HoldKind.PAUSED, request.reason, request.by))


def _act_or_ask(project: Project, state: State, request: StopRequest, act: Callable[[], State]) -> tuple[State, str]:
    """Act on a task that nobody holds. If a worker does, leave it the request, and return the worker, too. The caller holds a
    transaction: no worker can claim the task in between."""
    owner = find_owner(project.queue, state.task.id)
    if not owner:
        return act(), ""
    project.queue.ask_to_stop(state.task.id, request)
    return state, owner


def _hold(project: Project, state: State, hold: TaskHold) -> State:
    return state if state.place.hold == hold else record_events(project, state, state.task.id, [HoldChanged(hold, hold.by)])


def clean_reason(reason: str) -> str:
    return to_one_line(redact_secrets(reason), MAX_REASON_CHARACTERS)
