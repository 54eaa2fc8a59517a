"""A conversation is one task: each message is a turn on the same branch, and a finished turn waits for the next message."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.app.dialogue.answer_question import answer_question
from afresh.app.orders.check_order import NO_TASK_CREATED, make_no_model_error
from afresh.app.orders.check_task_limits import refuse_overfull_prompt, refuse_unstorable_text
from afresh.app.orders.choose_start import choose_task_start
from afresh.app.orders.tasks import TaskOrder, add_task, record_events, refuse_part_of_task
from afresh.app.project import Project
from afresh.app.queue.read_tasks import find_owner
from afresh.core.answer_options import is_bare_choice, match_options
from afresh.core.event import Event, ReplyReceived
from afresh.core.reducer import apply_event
from afresh.core.reply import answer_from_words
from afresh.core.state import State
from afresh.core.states.supervision_state import PersonSpoke, TurnBegan
from afresh.core.task import FIX_VIOLATION_TYPE, StartChosen, TaskStatus, TicketOrder, TicketQuery
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.errors import BadInput, NotPossible
from afresh.models.choose_model import find_context_window
from afresh.workspace.git import find_author_name

MAX_TASKS_SEARCHED = 50
MESSAGE_NOT_RECORDED = "the message was not recorded"
SESSION_ID_BYTES = 4


@dataclass(frozen=True, slots=True)
class Conversation:
    """The place of a conversation: its current task. All that lasts is in the journals of its tasks."""

    task: str = ""
    applied: str = ""
    """The task that was applied in it: the next message goes on from it."""
    model: str = ""
    session: str = ""
    """Hexadecimal digits that the ids of its tasks end with, and a number after them; empty: it is found by its task."""


@dataclass(frozen=True, slots=True)
class ConversationOrder:
    """The order that holds for each task of a conversation."""

    type: str = ""
    checks: tuple[str, ...] = ()
    with_changes: bool = False


def take_message(project: Project, now: Conversation, text: str, order: ConversationOrder) -> Conversation:
    """Record a message: the next turn of the task, or the first of a new one."""
    if now.task:
        record_message(project, now.task, text)
        return now
    if not (now.model or project.settings.model or order.type == FIX_VIOLATION_TYPE):
        raise make_no_model_error(NO_TASK_CREATED)
    # with the checkout as it is, what was applied is in it
    start = choose_task_start(project, "" if order.with_changes else now.applied, order.with_changes)
    events = [*([StartChosen(start)] if start else []), TurnBegan()]
    number = len(list_session_tasks(project, now.session)) if now.session else 0
    suffix = f"{now.session}{number:02}" if now.session else ""
    state = add_task(project, TaskOrder(text, order.type, order.checks, model=now.model), events=events, suffix=suffix)
    return replace(now, task=state.task.id)


def list_session_tasks(project: Project, session: str) -> list[str]:
    """Return the tasks of an editor's session in the order in which they were begun."""
    return [ticket.task for ticket in project.queue.tickets(TicketQuery(parents=())) if find_session(ticket.task) == session]


def find_session(task: str) -> str:
    """Return the session that a task was begun in; empty for any other task."""
    digits = task.rpartition("-")[2]
    return digits[: 2 * SESSION_ID_BYTES] if len(digits) > 2 * SESSION_ID_BYTES else ""


def open_conversation(project: Project, name: str) -> Conversation | None:
    """Return the conversation of a session or of a task; None for a session in which nothing was said yet."""
    tasks = list_session_tasks(project, name) or [
        ticket.task for ticket in project.queue.tickets(TicketQuery(prefix=name, parents=())) if ticket.task == name
    ]
    if not tasks:
        return None
    state = project.store.load(tasks[-1])
    session = find_session(tasks[-1])
    if state.status is TaskStatus.APPLIED:
        return Conversation(applied=tasks[-1], session=session)
    refuse_closed_task(state)
    return Conversation(task=tasks[-1], session=session)


def find_latest_conversation(project: Project) -> str:
    """Return the conversation that was changed last and can go on. NotPossible if there is none."""
    query = TicketQuery(parents=(), order=TicketOrder.TOUCHED, most=MAX_TASKS_SEARCHED)
    for ticket in project.queue.tickets(query):
        if not ticket.status.closed and project.store.load(ticket.task).dialogue.turn:
            return ticket.task
    raise NotPossible("there is no conversation to continue", next="`afresh chat` begins one")


def refuse_closed_task(state: State) -> None:
    """Raise NotPossible for a task that was applied or discarded: its branch is gone."""
    refuse_part_of_task(state)
    if state.status.closed:
        what = f"task {state.task.id} is {state.status}, so it can't be continued"
        raise NotPossible(what, next="`afresh chat` begins a conversation, `afresh run --on TASK` goes on from a result")


def record_message(project: Project, task: str, text: str) -> State:
    """Record what the person says, word for word, so that the task goes on with it. To a question of the model, or with an option
    that was offered, it is the answer; otherwise a new turn begins."""
    state = project.store.load(task)
    refuse_closed_task(state)
    if owner := find_owner(project.queue, task):
        what = f"task {task} is being worked on by {owner}"
        raise NotPossible(what, next="wait for it, or stop that process", safe=MESSAGE_NOT_RECORDED)
    if is_answer(state, text):
        return answer_question(project, task, text)
    if not text.strip() or "\0" in text:
        raise BadInput("the message is empty or has a NUL character", next="type it again", safe=MESSAGE_NOT_RECORDED)
    refuse_unstorable_text(text)
    events: Sequence[Event] = (TurnBegan(), PersonSpoke(text, find_author_name(project.paths.root)))
    after = state
    for event in events:
        after = apply_event(event, after)
    refuse_overfull_prompt(after, project.templates, project.instructions, project.settings.models)
    return record_events(project, state, task, events)


def is_answer(state: State, text: str) -> bool:
    """Whether the message answers the open question. What the harness asks takes one of its options; other words begin a turn."""
    if state.status is not TaskStatus.BLOCKED or not state.dialogue.question:
        return False
    by_choice = is_bare_choice(text) and bool(match_options(text, state.dialogue.options))
    return state.dialogue.asked_by != "harness" or by_choice


def read_closing_summary(project: Project, task: str) -> str:
    """Return what the model said when it completed its last turn, by a tool call or in words alone; empty if it has not."""
    summary = ""
    for entry in project.store.journal(task):
        if isinstance(entry.event, TurnBegan):
            summary = ""
        elif isinstance(entry.event, ReplyReceived):
            reply = entry.event.reply
            done = [action.args.get("summary") for action in reply.actions if has_trait(action, ToolTrait.COMPLETES)]
            summary = str(done[-1] or "") if done else answer_from_words(reply, turn=1) or summary
    return summary


def refuse_unknown_model(project: Project, name: str) -> None:
    """Raise BadInput for a model that nobody knows."""
    find_context_window(name, project.settings.models)
