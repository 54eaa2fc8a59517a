"""Questions that wait for a person, and their answers. Of two answers the journal takes the first."""

from collections.abc import Sequence
from dataclasses import dataclass

from afresh.adapters.workspace.author import author
from afresh.app.acceptance import refuse_overfull, refuse_unstorable
from afresh.app.books import allowed
from afresh.app.tasks import Desk, find, note
from afresh.domain.event import Answered, Asked
from afresh.domain.fold import apply
from afresh.domain.option import is_choice, offered, readings
from afresh.domain.state import State
from afresh.domain.task import Status
from afresh.domain.text import one_line
from afresh.errors import BadInput, Conflict
from afresh.projections.standing import iso

SAFE = "your answer was not recorded, nothing was changed"
NAMING = 5
"""Characters from which one word alone may be the beginning of a task's name."""


def inbox(desk: Desk) -> list[State]:
    """Every task that waits for an answer, the one that has waited longest first."""
    blocked = [ticket.task for ticket in desk.queue.tickets() if ticket.status is Status.BLOCKED]
    return sorted(map(desk.store.load, blocked), key=lambda state: (state.updated, state.task.id))


def addressed(desk: Desk, words: Sequence[str]) -> tuple[str, str]:
    """Which task the words are for, and the answer. The task may be left out where only one asks."""
    if len(words) == 2:
        return find(desk, words[0]), words[1]
    (text,) = words
    waiting = [state.task.id for state in inbox(desk)]
    if named := [ticket.task for ticket in desk.queue.tickets() if _names(text, ticket.task)]:
        raise BadInput(f"{text!r} names a task, and no answer is given", next=f'afresh answer {named[0]} "your words"', safe=SAFE)
    if len(waiting) == 1:
        return waiting[0], text
    if not waiting:
        raise BadInput("no task waits for an answer", next="afresh status shows where things stand", safe=SAFE)
    what = f"{len(waiting)} tasks wait for an answer: {', '.join(waiting[:5])}"
    raise BadInput(what, next='say which: afresh answer TASK "your words"; afresh inbox shows their questions', safe=SAFE)


def _names(text: str, task: str) -> bool:
    return text == task or (len(text) >= NAMING and task.startswith(text))


def answer(desk: Desk, task: str, text: str) -> State:
    """The person's own words, or the option that they chose. The task is ready again."""
    state = desk.store.load(task)
    if state.status is not Status.BLOCKED:
        raise refusal(desk, state)
    event = understood(state, text, author(desk.project.root))
    refuse_overfull(apply(event, state), desk.templates, desk.instructions, desk.settings.models)
    try:
        answered = note(desk, state, task, [event])
    except Conflict:
        raise refusal(desk, desk.store.load(task)) from None
    allowed(desk, task)
    return answered


def understood(state: State, text: str, by: str) -> Answered:
    """A number or letter stands for the option's words. What can be read in two ways, or in none, is asked back."""
    task, known = state.task.id, offered(state.options)
    if not text.strip():
        raise BadInput("the answer is empty", next=f'afresh answer {task} "your words"', safe=SAFE)
    if "\0" in text:
        raise BadInput("the answer holds a NUL, which no file can hold", next="leave it out", safe=SAFE)
    refuse_unstorable(text)
    found, choice = readings(text, state.options), is_choice(text)
    if len(found) == 1:
        return Answered(known[found[0] - 1].words if choice else text, by, found[0])
    if known and choice:
        can_be = " and ".join(f"{number} ({known[number - 1].name})" for number in found)
        what = f"{text.strip()!r} can mean options {can_be}" if found else f"there is no option {text.strip()}"
        options = ", ".join(f"{one.number} {one.name}" for one in known)
        raise BadInput(f"{what}; the options are {options}", next="give its number, or answer in words of your own", safe=SAFE)
    return Answered(text, by)


def refusal(desk: Desk, state: State) -> BadInput:
    """Why a task takes no answer, by what its journal says."""
    task, before = state.task.id, last_answer(desk, state.task.id)
    if state.status is Status.BLOCKED:
        question = one_line(state.question, 200)
        return BadInput(f"task {task} asks something else by now: {question}", next=f"afresh show {task}", safe=SAFE)
    if state.status is Status.DISCARDED:
        return BadInput(f"task {task} is gone: discarded {iso(state.updated)}", next="afresh inbox shows what is open", safe=SAFE)
    if state.status.over:
        return BadInput(f"task {task} is over: {state.status}", next=f"afresh show {task} tells how it ended", safe=SAFE)
    held = next((ticket.owner for ticket in desk.queue.tickets() if ticket.task == task), "")
    works = f"{held} is working on it" if held else ""
    if before:
        what = f"task {task} was answered already, {before.told}{f'; {works}' if works else ''}"
        return BadInput(what, next=f"afresh decisions {task} shows what came of it", safe=SAFE)
    if works:
        return BadInput(f"task {task} is running and asks nothing: {works}", next="it asks when it needs you", safe=SAFE)
    return BadInput(f"task {task} is {state.status} and asks nothing", next=f"afresh resume {task} goes on with it", safe=SAFE)


@dataclass(frozen=True, slots=True)
class Given:
    """An answer of the journal."""

    answer: Answered
    at: float
    question: str

    @property
    def told(self) -> str:
        to = f" to “{one_line(self.question, 100)}”" if self.question else ""
        return f"by {one_line(self.answer.by, 60)} at {iso(self.at)}: “{one_line(self.answer.text, 200)}”{to}"


def last_answer(desk: Desk, task: str) -> Given | None:
    question, last = "", None
    for entry in desk.store.journal(task):
        if isinstance(entry.event, Asked):
            question = entry.event.question
        elif isinstance(entry.event, Answered):
            last = Given(entry.event, entry.at, question)
    return last
