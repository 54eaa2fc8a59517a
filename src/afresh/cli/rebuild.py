"""`afresh rebuild`: make all projections again from the journals."""

import click


@click.command()
def command() -> None:
    """Delete session files, decision logs and the like, and write them again from the journal."""
    from afresh.app.setup import rebuild
    from afresh.cli.common import desk
    from afresh.projections.standing import counted

    count = rebuild(desk())
    click.echo(f"files of {counted(count, 'task')} written from the journal")
