"""`afresh list`: the queue, a line a task."""

from typing import TYPE_CHECKING

import click

from afresh.cli.options import json_option
from afresh.core.task import TaskStatus

if TYPE_CHECKING:
    from afresh.core.task import QueueTicket

STATUS_NAMES = tuple(status.value for status in TaskStatus)
INBOX_HINT = "Answer with: afresh answer TASK. Details: afresh inbox"


@click.command()
@click.option(
    "--status", "statuses", multiple=True, type=click.Choice(STATUS_NAMES), help="Only tasks with this status. Repeatable."
)
@json_option
def command(statuses: tuple[str, ...], as_json: bool) -> None:
    """List the tasks in the queue."""
    from afresh.app.read_tasks import offer_import
    from afresh.cli.options import read_current_tasks
    from afresh.cli.output import print_json
    from afresh.core.task import TicketQuery
    from afresh.views.task_list import order_parts_after_tasks, ticket_to_json

    here = read_current_tasks()
    wanted = TicketQuery(tuple(TaskStatus(status) for status in statuses))
    tickets = order_parts_after_tasks(here.queue.tickets(wanted))
    if as_json:
        return print_json([ticket_to_json(ticket) for ticket in tickets])
    if tickets:
        return click.echo("\n".join(_describe_tickets(tickets)))
    if statuses and here.queue.tickets(TicketQuery(most=1)):
        return click.echo(f"no {' or '.join(statuses)} tasks")
    lost = offer_import(here.queue, here.export_folder)
    return click.echo(f"no tasks yet; {lost}" if lost else 'no tasks yet; add one: afresh add "GOAL"')


def _describe_tickets(tickets: "list[QueueTicket]") -> list[str]:
    from afresh.core.truncate import to_one_line
    from afresh.views.task_list import find_open_question

    lines: list[str] = []
    shown, asked = {ticket.task for ticket in tickets}, False
    for ticket in tickets:
        held = f" (run by {ticket.owner})" if ticket.owner else ""
        waits = f" after {', '.join(ticket.needs)}" if ticket.needs else ""
        name = f"  {ticket.task}" if ticket.parent in shown else ticket.task
        lines.append(f"{name:36} {ticket.status:9} {ticket.type:18} {to_one_line(ticket.goal, 80)}{waits}{held}")
        if ticket.status is TaskStatus.BLOCKED and (question := find_open_question(ticket)):
            lines.append(f"{'':36} asks: {to_one_line(question, 120)}")
            asked = True
    return [*lines, INBOX_HINT] if asked else lines
