"""`afresh status`: what is going on, and what waits for you."""

import click

from afresh.cli.common import json_option


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Show running, waiting and finished tasks."""
    from afresh.app.tasks import offer
    from afresh.cli.common import desk, print_json, show
    from afresh.cli.views.status import status, status_json

    here = desk()
    tickets = here.queue.tickets()
    states = {ticket.task: here.store.load(ticket.task) for ticket in tickets}
    if as_json:
        return print_json(status_json(tickets, states))
    return show(status(tickets, states, offer(here)))
