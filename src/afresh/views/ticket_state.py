"""The state of a task in the queue as a person sees it, why it waits, and how it goes on."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from afresh.core.states.queue_state import RELEASE_COMMANDS, TaskHold, TicketMarks
from afresh.core.task import QueueTicket, TaskStatus, UnmetNeed, name_briefly
from afresh.core.text import format_count
from afresh.core.truncate import to_one_line
from afresh.views.task_status import format_time


class TicketState(StrEnum):
    """One word for each task, the same in every list."""

    PENDING = "pending"
    """It waits for other tasks, or for its next attempt."""
    READY = "ready"
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    """It was begun, and no worker holds it. Of a conversation: the last turn was stopped or taken back."""
    BLOCKED = "blocked"
    """A person has to do something: answer, or see to a task that it waits for."""
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    UNCHANGED = "unchanged"
    APPLIED = "applied"
    DISCARDED = "discarded"


STATUSES_BY_STATE = {
    TicketState.PENDING: (TaskStatus.READY, TaskStatus.RUNNING),
    TicketState.INTERRUPTED: (TaskStatus.RUNNING, TaskStatus.READY),
    TicketState.BLOCKED: (TaskStatus.BLOCKED, TaskStatus.READY),
    TicketState.PAUSED: (TaskStatus.READY, TaskStatus.RUNNING, TaskStatus.BLOCKED),
}
MAX_NAMED_NEEDS = 5


def list_statuses_of_states(states: Sequence[str]) -> tuple[TaskStatus, ...]:
    """Return the statuses that tasks in these states may have; none: any."""
    found = [STATUSES_BY_STATE.get(TicketState(state)) or (TaskStatus(state),) for state in states]
    return tuple(dict.fromkeys(status for statuses in found for status in statuses))


def find_ticket_state(ticket: QueueTicket) -> TicketState:
    if ticket.status.over or ticket.owner:
        return TicketState(ticket.status.value)
    if ticket.marks.hold:
        return TicketState(ticket.marks.hold.kind.value)
    if ticket.status is TaskStatus.BLOCKED or list_blockers(ticket):
        return TicketState.BLOCKED
    if ticket.unmet or (ticket.waits_for_retry and not ticket.ready):
        return TicketState.PENDING
    if ticket.status is TaskStatus.RUNNING or ticket.waits_for_message:
        return TicketState.INTERRUPTED
    return TicketState.READY if ticket.ready else TicketState.PENDING


def list_blockers(ticket: QueueTicket) -> list[UnmetNeed]:
    """Return the tasks that it waits for in vain until somebody acts: they have failed, were discarded or do not exist."""
    ended = (TaskStatus.FAILED, TaskStatus.DISCARDED, None)
    return [need for need in ticket.unmet if need.status in ended] if ticket.status is TaskStatus.READY else []


def list_ways_past_blockers(ticket: QueueTicket) -> list[str]:
    """Return the commands with which a task goes on that waits in vain."""
    blockers = list_blockers(ticket)
    again, task = [f"afresh resume {name_briefly(need.task)}" for need in blockers if need.status], name_briefly(ticket.task)
    return [*again, f"afresh edit {task} --not-after all", f"afresh discard {task}"] if blockers else []


def list_ways_on(ticket: QueueTicket) -> list[str]:
    """Return the commands with which a task goes on that waits for a person; the first is the most likely one."""
    hold = ticket.marks.hold
    if hold and not ticket.status.over:
        return [f"afresh {name} {name_briefly(ticket.task)}" for name in (RELEASE_COMMANDS[hold.kind], "discard")]
    return list_ways_past_blockers(ticket)


def explain_wait(ticket: QueueTicket) -> str:
    """Return why nobody works on it, and by what it is blocked; empty if it could be worked on, or is over."""
    hold, state = ticket.marks.hold, find_ticket_state(ticket)
    if ticket.status.over or ticket.owner:
        return ""
    if ticket.unmet:
        blockers = list_blockers(ticket) if not hold else []
        waits = f"blocked by {_name_needs(blockers)}" if blockers else f"waits for {_name_needs(ticket.unmet)}"
        return f"{_describe_hold(hold)}; {waits}" if hold else waits
    if hold:
        return _describe_hold(hold)
    if state is TicketState.BLOCKED:
        return "waits for your answer"
    if state is TicketState.PENDING and ticket.marks.retry_at:
        why = f": {to_one_line(ticket.marks.failure, 200)}" if ticket.marks.failure else ""
        failed = format_count(ticket.marks.failures, "failed attempt")
        return f"{failed}; will be tried again {format_time(ticket.marks.retry_at)}{why}"
    return ""


def _describe_hold(hold: TaskHold) -> str:
    return f"{hold.kind} by {to_one_line(hold.by, 40)}" + (f": {to_one_line(hold.reason, 200)}" if hold.reason else "")


def _name_needs(needs: Sequence[UnmetNeed]) -> str:
    named = [f"{need.task} ({need.status or 'not there'})" for need in needs[:MAX_NAMED_NEEDS]]
    return ", ".join([*named, *([f"{len(needs) - len(named)} more"] if len(needs) > len(named) else [])])


def describe_blockers(ticket: QueueTicket) -> str:
    """Return what keeps it from starting until a person acts, and how to go on; empty if nothing does."""
    ways = list_ways_on(ticket)
    return f"{explain_wait(ticket)}; {' · '.join(ways)}" if ways else ""


def describe_filing(marks: TicketMarks) -> list[str]:
    """Return labels, project, due time and failures in short, for a line below a task."""
    told = [" ".join(f"#{label}" for label in marks.labels)] if marks.labels else []
    told += [f"project {marks.project}"] if marks.project else []
    told += [f"due {format_time(marks.due)}"] if marks.due else []
    waits = marks.failures and not marks.retry_at  # `explain_wait` says it of one that will be tried again
    return told + ([format_count(marks.failures, "failed attempt")] if waits else [])


def marks_to_json(marks: TicketMarks) -> dict[str, Any]:
    hold = marks.hold
    return {
        "labels": list(marks.labels),
        "project": marks.project or None,
        "due": format_time(marks.due) if marks.due else None,
        "hold": {"kind": hold.kind.value, "reason": hold.reason, "by": hold.by} if hold else None,
        "failures": marks.failures,
        "retry_at": format_time(marks.retry_at) if marks.retry_at else None,
    }
