"""`afresh init`: this project."""

import click

from afresh.cli.options import with_project
from afresh.views.page import Page


@click.command("init")
@with_project
def command(project) -> Page:
    """Set up this repository: create .afresh and find the checks."""
    from afresh.app.project import init_project
    from afresh.cli.render.activity import show_activity_line

    with show_activity_line("looking for the test command and trying it"):
        done = init_project(project)
    return Page({"done": list(done)}, "\n".join(done))
