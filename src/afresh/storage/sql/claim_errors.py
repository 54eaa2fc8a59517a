"""Why a task can't be claimed, and how to go on."""

from socket import gethostname

from afresh.core.states.queue_state import RELEASE_COMMANDS
from afresh.core.task import QueueTicket, TaskStatus, describe_worker
from afresh.errors import BadInput, NeedsAnswer, NotPossible


def make_claim_error(ticket: QueueTicket) -> BadInput:
    if ticket.parent:
        return BadInput(
            f"{ticket.task} is a subtask of {ticket.parent} and runs with it",
            next=f"afresh resume {ticket.parent}",
            safe="nothing was changed",
        )
    if ticket.owner:
        return NotPossible(
            f"{ticket.task} is being worked on by {describe_worker(ticket.owner, gethostname())}",
            next="wait for it, or stop that process and try again",
            safe="nothing was changed",
        )
    if ticket.status.over:
        again = f"`afresh resume {ticket.task}` tries it again; " if ticket.status.retried else ""
        return NotPossible(
            f"{ticket.task} is finished: {ticket.status}", next=f"{again}`afresh show {ticket.task}` shows how it ended"
        )
    if ticket.status is TaskStatus.BLOCKED:
        return NeedsAnswer(
            f"{ticket.task} is blocked: its question is still open",
            next=f"`afresh answer` shows it; `afresh answer {ticket.task}` answers it",
        )
    if hold := ticket.marks.hold:
        release = RELEASE_COMMANDS[hold.kind]
        why = f": {hold.reason}" if hold.reason else ""
        return NeedsAnswer(
            f"{ticket.task} is {hold.kind} by {hold.by}{why}",
            next=f"`afresh {release} {ticket.task}` lets it go on",
            safe="nothing was changed",
        )
    waiting = [f"{need.task} ({need.status or 'not there'})" for need in ticket.unmet]
    ended = next((need.task for need in ticket.unmet if need.status and need.status.retried), "")
    advice = (
        f"`afresh resume {ended}` tries that again; `afresh edit {ticket.task} --not-after all` goes on without it; "
        f"`afresh discard {ticket.task}` drops this one"
        if ended
        else "finish those first: `afresh work` runs them in order"
    )
    return NeedsAnswer(f"{ticket.task} is waiting for {', '.join(waiting)}", next=advice, safe="nothing was changed")
