"""What a person beside the work says, understood and checked before it is taken to the task; and the undoing of steps."""

from pathlib import Path

from afresh.adapters.workspace.author import find_author_name
from afresh.adapters.workspace.moved import has_pending_work, unpack_work
from afresh.adapters.workspace.repository import Repository
from afresh.adapters.workspace.worktree import GitWorkspace
from afresh.app.acceptance import refuse_overfull_prompt
from afresh.app.asking import parse_answer
from afresh.app.results import refuse_part_of_task
from afresh.app.tasks import Project, record_events
from afresh.domain.attended import APPROVE_OPTION, PersonAct, PersonRequest
from afresh.domain.event import PersonSpoke
from afresh.domain.fold import apply_event
from afresh.domain.state import State
from afresh.engine.undo import is_just_undone, select_steps_to_undo, undo_steps
from afresh.errors import BadInput


def parse_user_message(desk: Project, state: State, text: str, redirects: bool = False) -> PersonRequest:
    """Words, or the option that they choose where something is asked. BadInput for what no window could hold."""
    answered = parse_answer(state, text, find_author_name(desk.project.root))
    event = answered if state.question else PersonSpoke(text, answered.by, redirects)
    refuse_overfull_prompt(apply_event(event, state), desk.templates, desk.instructions)
    if state.attendance.paused and answered.option == APPROVE_OPTION:
        return PersonRequest(PersonAct.GO, by=answered.by)
    return PersonRequest(
        PersonAct.REDIRECT if redirects else PersonAct.SAY, answered.text, option=answered.option, by=answered.by
    )


def refuse_empty_undo(desk: Project, state: State, steps: int) -> None:
    """BadInput if there is nothing to take back, in the words of someone beside the work."""
    select_steps_to_undo(state.task.id, desk.store, steps, "/undo 1")


def undo_task_steps(desk: Project, task: str, steps: int = 0, why: str = "") -> State:
    """Take back the last change, or so many steps, of a task that nobody is working on. Recorded before the tree follows: if the
    tree of the last undoing has not followed, that is done now and nothing more is taken back."""
    state = desk.store.load(task)
    refuse_part_of_task(state)
    if owner := next((ticket.owner for ticket in desk.queue.tickets() if ticket.task == task), ""):
        raise BadInput(f"task {task} is being worked on by {owner}", next="stop that run first", safe="nothing was undone")
    if state.status.over:
        raise BadInput(
            f"task {task} is over: {state.status}", next=f"afresh discard {task} throws its work away", safe="nothing was undone"
        )
    repository = Repository.find(desk.project.root)
    unpack_work(repository, task)
    workspace = GitWorkspace(repository, task, desk.clock)
    there = Path(workspace.root).exists() and not has_pending_work(repository, task)
    if there and is_just_undone(desk.store.journal(task)) and workspace.snapshot() != state.snapshot:
        workspace.restore(state.snapshot)
        return state
    word = PersonRequest(PersonAct.UNDO, why, steps, by=find_author_name(desk.project.root))
    after = record_events(desk, state, task, undo_steps(state, desk.store, workspace, word))
    if there:
        workspace.restore(after.snapshot)
    return after
