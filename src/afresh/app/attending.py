"""What a person beside the work says, understood and checked before it is taken to the task; and the undoing of steps."""

from pathlib import Path

from afresh.adapters.workspace.author import author
from afresh.adapters.workspace.moved import pending, unpack
from afresh.adapters.workspace.repository import Repository
from afresh.adapters.workspace.worktree import GitWorkspace
from afresh.app.acceptance import refuse_overfull
from afresh.app.asking import understood
from afresh.app.results import refuse_part
from afresh.app.tasks import Desk, note
from afresh.domain.attended import APPROVED, Act, Word
from afresh.domain.event import Spoke
from afresh.domain.fold import apply
from afresh.domain.state import State
from afresh.engine.undo import just_undone, to_undo, undoing
from afresh.errors import BadInput


def worded(desk: Desk, state: State, text: str, redirects: bool = False) -> Word:
    """Words, or the option that they choose where something is asked. BadInput for what no window could hold."""
    answered = understood(state, text, author(desk.project.root))
    event = answered if state.question else Spoke(text, answered.by, redirects)
    refuse_overfull(apply(event, state), desk.templates, desk.instructions)
    if state.attendance.paused and answered.option == APPROVED:
        return Word(Act.GO, by=answered.by)
    return Word(Act.REDIRECT if redirects else Act.SAY, answered.text, option=answered.option, by=answered.by)


def refuse_undo(desk: Desk, state: State, steps: int) -> None:
    """BadInput if there is nothing to take back, in the words of someone beside the work."""
    to_undo(state.task.id, desk.store, steps, "/undo 1")


def undo(desk: Desk, task: str, steps: int = 0, why: str = "") -> State:
    """Take back the last change, or so many steps, of a task that nobody is working on. Recorded before the tree follows: if the
    tree of the last undoing has not followed, that is done now and nothing more is taken back."""
    state = desk.store.load(task)
    refuse_part(state)
    if owner := next((ticket.owner for ticket in desk.queue.tickets() if ticket.task == task), ""):
        raise BadInput(f"task {task} is being worked on by {owner}", next="stop that run first", safe="nothing was undone")
    if state.status.over:
        raise BadInput(
            f"task {task} is over: {state.status}", next=f"afresh discard {task} throws its work away", safe="nothing was undone"
        )
    repository = Repository.find(desk.project.root)
    unpack(repository, task)
    workspace = GitWorkspace(repository, task, desk.clock)
    there = Path(workspace.root).exists() and not pending(repository, task)
    if there and just_undone(desk.store.journal(task)) and workspace.snapshot() != state.snapshot:
        workspace.restore(state.snapshot)
        return state
    word = Word(Act.UNDO, why, steps, by=author(desk.project.root))
    after = note(desk, state, task, undoing(state, desk.store, workspace, word))
    if there:
        workspace.restore(after.snapshot)
    return after
