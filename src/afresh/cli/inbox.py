"""`afresh inbox`: what waits for a person."""

import click

from afresh.cli.options import json_option


@click.command()
@json_option
def command(as_json: bool) -> None:
    """List open questions, oldest first, and how to answer them."""
    from afresh.app.answer_question import list_open_questions
    from afresh.cli.options import open_current_project
    from afresh.cli.output import print_json, print_rendered
    from afresh.cli.render.inbox import render_inbox as drawn
    from afresh.views.tasks import open_questions_to_json

    here = open_current_project()
    waiting = list_open_questions(here)
    if as_json:
        return print_json(open_questions_to_json(waiting))
    return print_rendered(drawn(waiting, here.clock.now()))
