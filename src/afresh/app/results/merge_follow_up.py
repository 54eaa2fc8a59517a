"""Orders a task that brings in a result whose merge was refused, and lets those wait for it that need the result."""

import hashlib
from dataclasses import replace

from afresh.app.orders.read_issue import MAX_BODY_CHARACTERS
from afresh.app.orders.tasks import create_task, make_task_id
from afresh.app.project import Project
from afresh.app.queue.queue_place import record_place
from afresh.app.queue.read_tasks import find_ticket
from afresh.app.results.read_task_diff import read_diff_patch
from afresh.core.event import Event
from afresh.core.leave import LeaveGiven
from afresh.core.redaction import redact_secrets
from afresh.core.refused_merge import RefusedMerge
from afresh.core.state import State
from afresh.core.task import Issue, IssueAttached, StartChosen, TaskStart, TicketQuery
from afresh.core.text import escape_hidden
from afresh.core.truncate import truncate_middle
from afresh.errors import NotPossible

MAX_FOLLOW_UPS = 3
"""Most follow-up tasks in a row for one goal; then a person is asked."""


def find_follow_up(project: Project, state: State) -> str:
    """Return the task that brings in this result, if its merge was refused before."""
    name = name_follow_up(state)
    return name if find_ticket(project.queue, name) else ""


def name_follow_up(state: State) -> str:
    """The id depends on the result alone, so that a second one is never ordered."""
    suffix = hashlib.sha256(f"{state.task.id} {state.workspace.commit}".encode()).hexdigest()[:8]
    return make_task_id("bring in " + state.task.id, suffix)


def order_follow_up(project: Project, state: State, refused: RefusedMerge) -> str:
    """Add the task, and let all that wait for the result wait for it, too: both in one transaction. Return what to say."""
    first = state
    for _ in range(MAX_FOLLOW_UPS):
        if not first.workspace.start.refused:
            break
        first = project.store.load(first.workspace.start.refused.task)
    else:
        raise NotPossible(
            f"the result of {state.task.id} can't be merged: {refused.words}",
            next=f"merge it by hand: git merge afresh/{state.task.id}",
            safe=f"your branch is as it was; {MAX_FOLLOW_UPS} tasks have tried to bring the result in, and all are kept",
        )
    goal = f"{first.task.goal}\n\nThis was done before in task {state.task.id}, but its result can't be merged: {refused.words}."
    task = replace(state.task, id=name_follow_up(state), goal=goal, priority=state.place.priority, needs=())
    with project.storage.transaction():
        create_task(project, task, list_follow_up_events(project, state, refused))
        for ticket in project.queue.tickets(TicketQuery(parents=())):
            if state.task.id in ticket.needs and not ticket.status.over and not ticket.owner:
                waiting = project.store.load(ticket.task)
                record_place(project, waiting, replace(waiting.place, needs=(*waiting.place.needs, task.id)))
    return f"not merged: {refused.words}; task {task.id} brings it in"


def list_follow_up_events(project: Project, state: State, refused: RefusedMerge) -> list[Event]:
    """What is recorded with the order: why there is this task, what it may do to tests, and the changes that were made before."""
    patch = read_diff_patch(project.paths.root, state).decode("utf-8", "replace")
    shown = truncate_middle(escape_hidden(redact_secrets(patch)), MAX_BODY_CHARACTERS, "[… {:,} characters left out]".format)
    leave = [LeaveGiven(state.verification.leave)] if state.verification.leave else []
    issue = Issue(f"The changes of task {state.task.id}", shown)
    return [StartChosen(TaskStart(refused=refused)), *leave, IssueAttached(issue)]
