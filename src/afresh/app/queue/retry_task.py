"""Tries a failed or discarded task again."""

from dataclasses import replace

from afresh.app.orders.tasks import create_task, file_order, make_task_id, record_events, refuse_part_of_task
from afresh.app.project import Project
from afresh.app.queue.queue_place import record_place
from afresh.core.event import QuestionAnswered
from afresh.core.state import State
from afresh.core.task import IssueAttached, TaskStatus
from afresh.core.truncate import to_one_line
from afresh.errors import NotPossible
from afresh.policy.questions import ask_person
from afresh.workspace.git import find_author_name

RETRY_WORDS = "try again"
NOTHING_CHANGED_NOW = "nothing was changed"


def retry_task(project: Project, task: str, words: str = "") -> State:
    """Make a failed task ready again, with all that it knows; order a discarded one anew, for those that wait for it, too."""
    state = project.store.load(task)
    refuse_part_of_task(state)
    if state.status is TaskStatus.FAILED:
        return reopen_failed_task(project, state, words)
    if state.status is TaskStatus.DISCARDED:
        return reorder_discarded_task(project, state, words)
    asked = state.status is TaskStatus.BLOCKED
    advice = f"`afresh answer {task}` answers its question" if asked else f"`afresh resume {task}` continues it"
    advice = f"`afresh show {task}` shows how it ended" if state.status.over else advice
    raise NotPossible(f"{task} is {state.status}, not failed", next=advice, safe=NOTHING_CHANGED_NOW)


def reopen_failed_task(project: Project, state: State, words: str) -> State:
    """Record the person's word as an answer, after which all counters start anew."""
    question = ask_person(f"It has failed: {to_one_line(state.work.outcome, 300)}. Try again?")
    answer = QuestionAnswered(words or RETRY_WORDS, find_author_name(project.paths.root))
    return record_events(project, state, state.task.id, [question, answer])


def reorder_discarded_task(project: Project, state: State, words: str) -> State:
    """Create the same order as a new task: the work of the old one is gone, its journal stays."""
    old = state.task
    goal = f"{old.goal}\n\n{words}" if words else old.goal
    issue = [IssueAttached(state.dialogue.issue)] if state.dialogue.issue else []
    place = state.place
    order = replace(old, id=make_task_id(goal), goal=goal, priority=place.priority, needs=place.needs)
    new = create_task(project, order, [*file_order(place), *issue])
    for ticket in project.queue.tickets():
        if old.id in ticket.needs and not ticket.status.over:
            needs = tuple(new.task.id if need == old.id else need for need in ticket.needs)
            waiting = project.store.load(ticket.task)
            record_place(project, waiting, replace(waiting.place, needs=needs))
    return new
