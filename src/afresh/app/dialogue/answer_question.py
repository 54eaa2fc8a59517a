"""Open questions of tasks, and their answers. If two people answer, the journal keeps the first answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from socket import gethostname

from afresh.app.dialogue.allow_network import store_answer_for_ever
from afresh.app.open_workspace import publish_kept_work
from afresh.app.orders.check_task_limits import refuse_overfull_prompt, refuse_unstorable_text
from afresh.app.orders.tasks import find_task, record_events, refuse_part_of_task
from afresh.app.project import Project
from afresh.app.queue.read_tasks import find_owner
from afresh.app.spending.spending_ledger import reset_task_limits
from afresh.core.answer_options import is_bare_choice, match_options, parse_options
from afresh.core.event import QuestionAnswered, QuestionAsked
from afresh.core.reducer import apply_event
from afresh.core.state import State
from afresh.core.states.supervision_state import APPROVE_OPTION, PersonAct, PersonRequest, PersonSpoke
from afresh.core.task import TaskStatus, TicketQuery, describe_worker, name_briefly
from afresh.core.truncate import to_one_line
from afresh.errors import BadInput, Conflict, NotPossible
from afresh.verification.conclude_step import end_with_acceptance
from afresh.views.task_facts import format_time
from afresh.workspace.git import find_author_name

ANSWER_NOT_RECORDED = "the answer was not recorded; nothing was changed"
MIN_TASK_PREFIX_CHARACTERS = 5
MAX_OPTION_DIGITS = 2
"""Minimum length of a single word that is read as a task id prefix; a number with more digits is no option either."""


def list_open_questions(project: Project, most: int | None = None) -> list[State]:
    """Return the tasks with an open question, longest waiting first. Questions of subtasks go to their parent."""
    blocked = project.queue.tickets(TicketQuery((TaskStatus.BLOCKED,), parents=()))
    ordered = sorted(blocked, key=lambda ticket: (ticket.detail.updated if ticket.detail else 0.0, ticket.task))
    return [project.store.load(ticket.task) for ticket in ordered[:most]]


def find_addressed_task(project: Project, words: Sequence[str]) -> tuple[str, str]:
    """Return the addressed task and the answer text. The task may be omitted if only one task has a question."""
    if len(words) == 2:
        return find_task(project, words[0]), words[1]
    (text,) = words
    waiting = [state.task.id for state in list_open_questions(project)]
    alike = [ticket.task for ticket in project.queue.tickets(TicketQuery(part=text))] if text else []
    if named := [task for task in alike if _names_task(text, task)]:
        raise BadInput(
            f"{text!r} is a task; the answer is missing",
            next=f'afresh answer {name_briefly(named[0])} "your words"',
            safe=ANSWER_NOT_RECORDED,
        )
    if len(waiting) == 1:
        return waiting[0], text
    if not waiting:
        raise NotPossible("no task has an open question", next="afresh status shows all tasks", safe=ANSWER_NOT_RECORDED)
    what = f"{len(waiting)} tasks have open questions: {', '.join(waiting[:5])}"
    raise BadInput(
        what, next='name one: afresh answer TASK "your words"; afresh answer lists the questions', safe=ANSWER_NOT_RECORDED
    )


def _names_task(text: str, task: str) -> bool:
    begins = task.startswith(text) or name_briefly(task).startswith(text)
    is_long = len(text) >= MIN_TASK_PREFIX_CHARACTERS or (text.isdecimal() and len(text) > MAX_OPTION_DIGITS)
    return text == task or (is_long and begins)


def answer_question(project: Project, task: str, text: str) -> State:
    """Record the person's answer, in their own words or as a chosen option. The task becomes ready."""
    state = project.store.load(task)
    refuse_part_of_task(state)
    if state.status is not TaskStatus.BLOCKED:
        raise explain_refusal(project, state)
    event = parse_answer(state, text, find_author_name(project.paths.root))
    refuse_overfull_prompt(
        apply_event(event, state), project.templates, project.instructions, project.settings.models, ANSWER_NOT_RECORDED
    )
    store_answer_for_ever(project, state, event)
    try:
        answered = record_events(project, state, task, [event])
    except Conflict:
        raise explain_refusal(project, project.store.load(task)) from None
    reset_task_limits(project, task)
    if not answered.verification.accepted:
        return answered
    publish = partial(publish_kept_work, project, answered)
    return record_events(project, answered, task, end_with_acceptance(answered, lambda _, message: publish(message)))


def parse_answer(state: State, text: str, by: str) -> QuestionAnswered:
    """Resolve a number or letter to the option's text. Raises BadInput if the text is ambiguous or matches nothing."""
    task, known = state.task.id, parse_options(state.dialogue.options)
    if not text.strip():
        raise BadInput("the answer is empty", next=f'afresh answer {task} "your words"', safe=ANSWER_NOT_RECORDED)
    if "\0" in text:
        raise BadInput("the answer contains a NUL character", next="remove it", safe=ANSWER_NOT_RECORDED)
    refuse_unstorable_text(text)
    found, choice = match_options(text, state.dialogue.options), is_bare_choice(text)
    if len(found) == 1:
        return QuestionAnswered(known[found[0] - 1].words if choice else text, by, found[0])
    if known and choice:
        can_be = " and ".join(f"{number} ({known[number - 1].name})" for number in found)
        what = f"{text.strip()!r} could mean options {can_be}" if found else f"no such option: {text.strip()}"
        options = ", ".join(f"{option.number} {option.name}" for option in known)
        raise BadInput(f"{what}; options: {options}", next="answer with a number, or in your own words", safe=ANSWER_NOT_RECORDED)
    return QuestionAnswered(text, by)


def explain_refusal(project: Project, state: State) -> NotPossible:
    """Explain from the journal why the task accepts no answer."""
    task, before = state.task.id, find_last_answer(project, state.task.id)
    if state.status is TaskStatus.BLOCKED:
        question = to_one_line(state.dialogue.question, 200)
        return NotPossible(
            f"task {task} has a different question now: {question}", next=f"afresh show {task}", safe=ANSWER_NOT_RECORDED
        )
    if state.status is TaskStatus.DISCARDED:
        return NotPossible(
            f"task {task} was discarded {format_time(state.times.updated)}",
            next="afresh answer lists open questions",
            safe=ANSWER_NOT_RECORDED,
        )
    if state.status.over:
        return NotPossible(
            f"task {task} is finished: {state.status}", next=f"afresh show {task} shows how it ended", safe=ANSWER_NOT_RECORDED
        )
    owner = find_owner(project.queue, task)
    works = f"{describe_worker(owner, gethostname())} is working on it" if owner else ""
    if before:
        what = f"task {task} was answered already, {before.told}{f'; {works}' if works else ''}"
        return NotPossible(what, next=f"afresh show {task} --decisions shows what followed", safe=ANSWER_NOT_RECORDED)
    if works:
        return NotPossible(
            f"task {task} is running and has no question: {works}", next="it will ask when it needs you", safe=ANSWER_NOT_RECORDED
        )
    return NotPossible(
        f"task {task} is {state.status} and has no question", next=f"afresh resume {task} continues it", safe=ANSWER_NOT_RECORDED
    )


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """An answer in the journal."""

    answer: QuestionAnswered
    at: float
    question: str

    @property
    def told(self) -> str:
        to = f" to “{to_one_line(self.question, 100)}”" if self.question else ""
        return f"by {to_one_line(self.answer.by, 60)} at {format_time(self.at)}: “{to_one_line(self.answer.text, 200)}”{to}"


def find_last_answer(project: Project, task: str) -> RecordedAnswer | None:
    question, last = "", None
    for entry in project.store.journal(task):
        if isinstance(entry.event, QuestionAsked):
            question = entry.event.question
        elif isinstance(entry.event, QuestionAnswered):
            last = RecordedAnswer(entry.event, entry.at, question)
    return last


def parse_user_message(project: Project, state: State, text: str, redirects: bool = False) -> PersonRequest:
    """Return the message as a PersonRequest, with a chosen option resolved. Raises BadInput if no prompt could hold it."""
    answered = parse_answer(state, text, find_author_name(project.paths.root))
    event = answered if state.dialogue.question else PersonSpoke(text, answered.by, redirects)
    refuse_overfull_prompt(
        apply_event(event, state), project.templates, project.instructions, project.settings.models, ANSWER_NOT_RECORDED
    )
    store_answer_for_ever(project, state, answered)
    if state.dialogue.supervision.paused and answered.option == APPROVE_OPTION:
        return PersonRequest(PersonAct.GO, by=answered.by)
    return PersonRequest(
        PersonAct.REDIRECT if redirects else PersonAct.SAY, answered.text, option=answered.option, by=answered.by
    )
