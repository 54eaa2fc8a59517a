"""`afresh inbox`: what waits for a person."""

import click

from afresh.cli.common import json_option


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Show every open question, the oldest first, and how to answer it."""
    from afresh.app.asking import list_open_questions
    from afresh.cli.common import open_current_project, print_json, print_rendered
    from afresh.cli.views.inbox import render_inbox as drawn
    from afresh.cli.views.inbox import open_questions_to_json

    here = open_current_project()
    waiting = list_open_questions(here)
    if as_json:
        return print_json(open_questions_to_json(waiting))
    return print_rendered(drawn(waiting, here.clock.now()))
