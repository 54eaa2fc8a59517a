"""`afresh rebuild`: make all projections again from the journals."""

import click


@click.command()
def command() -> None:
    """Delete session files, decision logs and the like, and write them again from the journal."""
    from afresh.app.setup import rebuild
    from afresh.cli.common import desk

    count = rebuild(desk())
    click.echo(f"{count} files written from the journal")
