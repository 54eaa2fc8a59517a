"""`afresh list`: the queue, a line a task."""

import click

from afresh.cli.options import json_option
from afresh.core.task import TaskStatus

STATUS_NAMES = tuple(status.value for status in TaskStatus)


@click.command()
@click.option(
    "--status", "statuses", multiple=True, type=click.Choice(STATUS_NAMES), help="Only tasks in this status; may be repeated."
)
@json_option
def command(statuses: tuple[str, ...], as_json: bool) -> None:
    """List the tasks in the queue."""
    from afresh.app.answer_question import list_open_questions
    from afresh.app.tasks import offer_import, order_parts_after_tasks
    from afresh.cli.options import open_current_project
    from afresh.cli.output import print_json
    from afresh.core.truncate import to_one_line

    here = open_current_project()
    queued = order_parts_after_tasks(here.queue.tickets())
    tickets = [ticket for ticket in queued if not statuses or ticket.status in statuses]
    shown = {ticket.task for ticket in tickets}
    asked = {state.task.id: state.dialogue.question for state in list_open_questions(here) if state.task.id in shown}
    if as_json:
        rows = [
            {"task": t.task, "goal": t.goal, "type": t.type, "status": t.status, "priority": t.priority,
             "needs": list(t.needs), "ready": t.ready, "owner": t.owner, "question": asked.get(t.task, ""), "parent": t.parent}
            for t in tickets
        ]  # fmt: skip
        return print_json(rows)
    for ticket in tickets:
        held = f" (held by {ticket.owner})" if ticket.owner else ""
        waits = f" after {', '.join(ticket.needs)}" if ticket.needs else ""
        name = f"  {ticket.task}" if ticket.parent in shown else ticket.task
        click.echo(f"{name:36} {ticket.status:9} {ticket.type:18} {to_one_line(ticket.goal, 80)}{waits}{held}")
        if ticket.task in asked:
            click.echo(f"{'':36} asks: {to_one_line(asked[ticket.task], 120)}")
    if queued and not tickets:
        click.echo(f"no task is {' or '.join(statuses)}")
    elif not tickets:
        click.echo(f"no task yet; {lost}" if (lost := offer_import(here)) else 'no task yet: afresh add "what is to be done"')
    if asked:
        click.echo("afresh inbox shows what each answer would mean; afresh answer TASK gives one")
    return None
