"""`afresh status`: what is going on, and what waits for you."""

from pathlib import Path

import click

from afresh.cli.options import json_option


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Show running, waiting and finished tasks, with the next command for each."""
    from afresh.app.read_tasks import offer_import
    from afresh.cli.options import read_current_tasks
    from afresh.cli.output import measure_width, print_json, print_lines
    from afresh.cli.render.status import render_status
    from afresh.views.task_list import survey_queue, ticket_detail_to_json

    here = read_current_tasks()
    now = here.clock.now()
    spending = _list_limit_warnings(here.root, now)
    if as_json:
        return print_json({"tasks": [ticket_detail_to_json(ticket) for ticket in here.queue.tickets()], "spending": spending})
    offer = offer_import(here.queue, here.export_folder)
    return print_lines(render_status(survey_queue(here.queue), offer, now, spending, measure_width()))


def _list_limit_warnings(root: Path, now: float) -> list[str]:
    from afresh.app.user_ledger import has_user_ledger

    if not has_user_ledger():
        return []
    from afresh.app.read_spending import warn_of_limits

    return warn_of_limits(root, now)
