"""`afresh inbox`: what waits for a person."""

import click

from afresh.cli.common import json_option


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Show every open question, the oldest first, and how to answer it."""
    from afresh.app.asking import inbox
    from afresh.cli.common import desk, print_json, show
    from afresh.cli.views.inbox import inbox as drawn
    from afresh.cli.views.inbox import inbox_json

    here = desk()
    waiting = inbox(here)
    if as_json:
        return print_json(inbox_json(waiting))
    return show(drawn(waiting, here.clock.now()))
