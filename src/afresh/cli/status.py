"""`afresh status`: what is going on, and what waits for you."""

import click

from afresh.cli.options import json_option
from afresh.core.task import TaskStatus

SETTLED_STATUSES = (TaskStatus.APPLIED, TaskStatus.DISCARDED)
"""Nothing is to be done about these, so that there may be thousands of them: they are not loaded to be shown."""


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Show running, waiting and finished tasks."""
    from afresh.app.open_ledger import open_ledger_of_project
    from afresh.app.spending_report import warn_of_limits
    from afresh.app.tasks import offer_import
    from afresh.cli.options import open_current_project
    from afresh.cli.output import print_json, print_rendered
    from afresh.cli.render.status import render_status
    from afresh.views.tasks import tickets_to_json

    here = open_current_project()
    tickets = here.queue.tickets()
    known = [ticket.task for ticket in tickets if as_json or ticket.status not in SETTLED_STATUSES]
    states = {task: here.store.load(task) for task in known}
    if as_json:
        return print_json(tickets_to_json(tickets, states) | {"spending": warn_of_limits(open_ledger_of_project(here))})
    return print_rendered(
        render_status(tickets, states, offer_import(here), here.clock.now(), warn_of_limits(open_ledger_of_project(here)))
    )
