"""`afresh status`: what is going on, and what waits for you."""

import click

from afresh.cli.common import json_option
from afresh.domain.task import Status

SETTLED = (Status.APPLIED, Status.DISCARDED)
"""Nothing is to be done about these, so that there may be thousands of them: they are not loaded to be shown."""


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Show running, waiting and finished tasks."""
    from afresh.app.purse import purse_of
    from afresh.app.spend import told
    from afresh.app.tasks import offer
    from afresh.cli.common import desk, print_json, show
    from afresh.cli.views.status import status, status_json

    here = desk()
    tickets = here.queue.tickets()
    known = [ticket.task for ticket in tickets if as_json or ticket.status not in SETTLED]
    states = {task: here.store.load(task) for task in known}
    if as_json:
        return print_json(status_json(tickets, states) | {"spending": told(purse_of(here))})
    return show(status(tickets, states, offer(here), here.clock.now(), told(purse_of(here))))
