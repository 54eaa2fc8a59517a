"""`afresh init`: get a repository ready, and say what will hold here."""

import click


@click.command()
def command() -> None:
    """Set up this repository: create .afresh and find the checks."""
    from afresh.app.project import init_project
    from afresh.cli.options import open_current_project

    made = init_project(open_current_project())
    for line in made:
        click.echo(line)
