"""The task queue as plain data, for `afresh status`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from afresh.core.task import QueueCounts, QueueTicket, TaskStatus, TicketOrder, TicketQuery, name_briefly
from afresh.views.task_facts import (
    TicketState,
    explain_wait,
    find_ticket_state,
    format_time,
    list_blockers,
    list_commands_for_status,
    list_ways_on,
    marks_to_json,
)

if TYPE_CHECKING:
    from afresh.ports.storage import TaskQueue

MAX_TASKS_PER_GROUP = 20
MAX_OVER_SHOWN = 5
WAITING_STATUSES = (TaskStatus.BLOCKED, TaskStatus.DONE, TaskStatus.FAILED)
"""Statuses that need a person."""
SETTLED_STATUSES = (TaskStatus.APPLIED, TaskStatus.DISCARDED, TaskStatus.UNCHANGED)


@dataclass(frozen=True, slots=True)
class TaskGroup:
    title: str
    tickets: Sequence[QueueTicket]
    hidden: int = 0
    """Tasks of the group that are not shown."""
    statuses: tuple[TaskStatus, ...] = ()
    """The statuses to pass to `afresh status`."""


@dataclass(frozen=True, slots=True)
class QueueOverview:
    """Tasks that need a person come first. Applied and discarded tasks are counted; only the last few are listed."""

    groups: Sequence[TaskGroup]
    counts: QueueCounts
    parts: Mapping[str, Sequence[QueueTicket]]
    """Subtasks by parent."""


def survey_queue(queue: "TaskQueue") -> QueueOverview:
    """Survey the queue with a fixed number of bounded queries."""
    waiting = _find_newest(queue, WAITING_STATUSES, MAX_TASKS_PER_GROUP)
    running = _find_newest(queue, (TaskStatus.RUNNING,), MAX_TASKS_PER_GROUP)
    coming = queue.tickets(TicketQuery((TaskStatus.READY,), parents=(), most=MAX_TASKS_PER_GROUP))
    over = _find_newest(queue, SETTLED_STATUSES, MAX_OVER_SHOWN)
    shown = [*waiting, *running, *coming, *over]
    parts = queue.tickets(TicketQuery(parents=tuple(ticket.task for ticket in shown))) if shown else ()
    return group_tickets([*shown, *parts], queue.counts())


def _find_newest(queue: "TaskQueue", statuses: tuple[TaskStatus, ...], most: int) -> Sequence[QueueTicket]:
    """Return the newest tickets, in queue order."""
    return queue.tickets(TicketQuery(statuses, parents=(), order=TicketOrder.NEWEST, most=most))[::-1]


MAX_TASK_ROWS = 6
MAX_UNSEEN_READ = 24
"""More finished tasks than have room in a file for whoever continues."""
ACTIVE_STATUSES = TaskStatus.RUNNING, TaskStatus.BLOCKED, TaskStatus.READY
"""States of active tasks, in the order of the list."""
UNREVIEWED_STATUSES = TaskStatus.DONE, TaskStatus.FAILED
"""States of finished tasks that are not applied or discarded yet."""


@dataclass(frozen=True, slots=True)
class QueueHead:
    """The tickets that are named, and how many there are. Subtasks are part of their task."""

    active: Sequence[QueueTicket] = ()
    """The one to be picked up first, first."""
    active_count: int = 0
    unseen: Sequence[QueueTicket] = ()
    """Finished tasks that nobody has applied or discarded, the newest first."""
    unseen_count: int = 0


def read_queue_head(queue: "TaskQueue") -> QueueHead:
    """Read the head of the queue with a fixed number of bounded queries."""
    counts, active = queue.counts().by_status, list[QueueTicket]()
    for status in ACTIVE_STATUSES:
        if left := MAX_TASK_ROWS - len(active):
            active += queue.tickets(TicketQuery((status,), parents=(), order=TicketOrder.TURN, most=left))
    newest = TicketQuery(UNREVIEWED_STATUSES, parents=(), order=TicketOrder.NEWEST, most=MAX_UNSEEN_READ)
    active_count, unseen_count = (
        sum(counts.get(status, 0) for status in statuses) for statuses in (ACTIVE_STATUSES, UNREVIEWED_STATUSES)
    )
    return QueueHead(active, active_count, queue.tickets(newest), unseen_count)


def group_tickets(tickets: Sequence[QueueTicket], counts: QueueCounts) -> QueueOverview:
    parts: dict[str, list[QueueTicket]] = {ticket.task: [] for ticket in tickets}
    for ticket in tickets:
        if ticket.parent in parts:
            parts[ticket.parent].append(ticket)
    tasks = [ticket for ticket in tickets if ticket.parent not in parts]
    begun = [ticket for ticket in tasks if ticket.status is TaskStatus.RUNNING]
    working = [ticket for ticket in begun if ticket.owner]
    delayed = [ticket for ticket in begun if find_ticket_state(ticket) is TicketState.PENDING]
    stopped = [ticket for ticket in begun if not ticket.owner and ticket not in delayed]
    waiting = [ticket for ticket in tasks if ticket.status in WAITING_STATUSES]
    coming = sorted([ticket for ticket in tasks if ticket.status is TaskStatus.READY], key=lambda ticket: -ticket.priority)
    over = [ticket for ticket in tasks if ticket.status in SETTLED_STATUSES][-MAX_OVER_SHOWN:]
    running = (TaskStatus.RUNNING,)

    def hide(shown: int, *statuses: TaskStatus) -> int:
        return sum(counts.by_status.get(status, 0) for status in statuses) - shown

    groups = (
        TaskGroup("Needs you", [*waiting, *stopped], hide(len(waiting), *WAITING_STATUSES), WAITING_STATUSES),
        TaskGroup("Running", working, hide(len(begun), *running), running),
        TaskGroup("Waiting", [*delayed, *coming], hide(len(coming), TaskStatus.READY), (TaskStatus.READY,)),
        TaskGroup("Over", over),
    )
    return QueueOverview([group for group in groups if group.tickets], counts, parts)


def order_parts_after_tasks(tickets: Sequence[QueueTicket]) -> list[QueueTicket]:
    """Return tickets in queue order, each subtask after its parent."""
    rows: dict[str, list[QueueTicket]] = {ticket.task: [ticket] for ticket in tickets if not ticket.parent}
    for part in tickets:
        if part.parent:
            rows.setdefault(part.parent, []).append(part)
    return [ticket for row in rows.values() for ticket in row]


def find_open_question(ticket: QueueTicket) -> str:
    """Return the question for a person; questions of subtasks go to the parent."""
    return ticket.detail.question if ticket.detail and not ticket.parent else ""


def ticket_to_json(ticket: QueueTicket) -> dict[str, Any]:
    return {
        "task": ticket.task,
        "goal": ticket.goal,
        "type": ticket.type,
        "status": ticket.status.value,
        "state": find_ticket_state(ticket).value,
        "why": explain_wait(ticket),
        "priority": ticket.priority,
        "needs": list(ticket.needs),
        "blocked_by": [need.task for need in list_blockers(ticket)],
        "ready": ticket.ready,
        "owner": ticket.owner,
        "question": find_open_question(ticket) if ticket.status is TaskStatus.BLOCKED else "",
        "parent": ticket.parent,
        **marks_to_json(ticket.marks),
    }


def ticket_detail_to_json(ticket: QueueTicket) -> dict[str, Any]:
    """Convert a ticket, with its progress and next command."""
    detail = ticket.detail
    return ticket_to_json(ticket) | {
        "question": find_open_question(ticket),
        "options": list(detail.options) if detail else [],
        "step": detail.step if detail else None,
        "max_steps": detail.limit if detail else None,
        "verdict": detail.ruling or None if detail else None,
        "outcome": detail.outcome if detail else "",
        "follows": detail.follows if detail else "",
        "updated": format_time(detail.updated) if detail else None,
        "next": choose_next_command(ticket),
    }


def choose_next_command(ticket: QueueTicket) -> str:
    """Return the next command; empty for a task that a live worker holds, that waits for another, or that is a subtask."""
    if ways := list_ways_on(ticket):
        return ways[0]
    if ticket.waits_for_message:
        return f"afresh chat {name_briefly(ticket.task)}"
    owner = ticket.owner or ticket.parent or (ticket.status is TaskStatus.READY and not ticket.ready)
    if owner:
        return f"afresh show {name_briefly(ticket.task)}"
    return list_commands_for_status(ticket.task, ticket.status, bool(find_open_question(ticket)))[0]
