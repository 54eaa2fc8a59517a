"""`afresh init`: get a repository ready, and say what will hold here."""

import click


@click.command()
def command() -> None:
    """Make the .afresh folder in this repository."""
    from afresh.app.setup import init
    from afresh.cli.common import desk

    made = init(desk())
    for line in made:
        click.echo(line)
