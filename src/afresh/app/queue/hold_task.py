"""Blocks, pauses, continues and cancels tasks. The worker that holds one is asked, and obeys before its next call."""

from collections.abc import Callable

from afresh.app.orders.tasks import record_events, refuse_part_of_task
from afresh.app.project import Project
from afresh.app.queue.read_tasks import find_owner
from afresh.app.results.task_result import drop_task
from afresh.core.redaction import redact_secrets
from afresh.core.state import State
from afresh.core.states.queue_state import RELEASE_COMMANDS, HoldKind, HoldReleased, StopAct, StopRequest, TaskHeld, TaskHold
from afresh.core.task import TaskStatus
from afresh.core.truncate import to_one_line
from afresh.errors import BadInput, NotPossible
from afresh.workspace.git import find_author_name

NOTHING_CHANGED = "nothing was changed"
MAX_REASON_CHARACTERS = 500


def block_task_for_reason(project: Project, task: str, reason: str) -> State:
    """Keep a task from being worked on until `release_task`: something that it needs is missing."""
    reason = clean_reason(reason)
    if not reason:
        raise BadInput("a block needs a reason", next='afresh block TASK "waiting for the key"', safe=NOTHING_CHANGED)
    hold = TaskHold(HoldKind.BLOCKED, reason, find_author_name(project.paths.root))
    state, owner = _act_or_find_owner(project, task, lambda state: _hold(project, state, hold))
    if owner:
        raise NotPossible(
            f"{task} is being worked on", next=f"`afresh pause {task}` stops it; then block it", safe=NOTHING_CHANGED
        )
    return state


def pause_task(project: Project, task: str, reason: str = "") -> tuple[State, str]:
    """Pause a task. Returns its state, and the worker that was asked to stop before its next call; empty: it is paused now."""
    by = find_author_name(project.paths.root)
    hold = TaskHold(HoldKind.PAUSED, clean_reason(reason), by)
    return _act_or_find_owner(
        project, task, lambda state: _hold(project, state, hold), StopRequest(StopAct.PAUSE, hold.reason, by)
    )


def cancel_task(project: Project, task: str, reason: str = "") -> tuple[State, str]:
    """End a task that is not done and remove its work. Returns its state, and the worker that was asked to do it before its next
    call; empty: it is cancelled now."""
    reason, by = clean_reason(reason), find_author_name(project.paths.root)
    return _act_or_find_owner(
        project, task, lambda state: drop_task(project, state, reason), StopRequest(StopAct.CANCEL, reason, by)
    )


def release_task(project: Project, task: str, kind: HoldKind) -> State:
    """Let a blocked or paused task have its turn again."""
    with project.storage.transaction():
        state = project.store.load(task)
        refuse_part_of_task(state)
        hold = state.place.hold
        if hold is None or hold.kind is not kind:
            how = f"it is {hold.kind}: `afresh {RELEASE_COMMANDS[hold.kind]} {task}` ends that" if hold else f"afresh show {task}"
            raise NotPossible(f"nobody has {kind} {task}", next=how, safe=NOTHING_CHANGED)
        return record_events(project, state, task, [HoldReleased(find_author_name(project.paths.root))])


def end_pause(project: Project, task: str) -> None:
    """Who asks for a paused or interrupted task to be worked on ends that."""
    hold = project.store.load(task).place.hold
    if hold and hold.kind is not HoldKind.BLOCKED:
        release_task(project, task, hold.kind)


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


def _act_or_find_owner(
    project: Project, task: str, act: Callable[[State], State], request: StopRequest | None = None
) -> tuple[State, str]:
    """Act on a task that nobody holds. If a worker does, leave it the request, and return the worker, too. One transaction: no
    worker can claim it in between."""
    with project.storage.transaction():
        state = project.store.load(task)
        refuse_part_of_task(state)
        if state.status.over:
            advice = f"`afresh discard {task}` drops its result" if not state.status.closed else f"afresh show {task}"
            raise NotPossible(f"{task} is over: it is {state.status}", next=advice, safe=NOTHING_CHANGED)
        owner = find_owner(project.queue, task)
        if not owner:
            return act(state), ""
        if request:
            project.queue.ask_to_stop(task, request)
        return state, owner


def _hold(project: Project, state: State, hold: TaskHold) -> State:
    return state if state.place.hold == hold else record_events(project, state, state.task.id, [TaskHeld(hold)])


def clean_reason(reason: str) -> str:
    return to_one_line(redact_secrets(reason), MAX_REASON_CHARACTERS)
