"""`afresh rebuild`: make all projections again from the journals."""

import click


@click.command()
def command() -> None:
    """Delete session files, decision logs and the like, and write them again from the journal. Calls that the books of what is
    spent do not know are put back."""
    from afresh.app.books import put_back
    from afresh.app.setup import rebuild
    from afresh.cli.common import desk
    from afresh.projections.standing import counted

    here = desk()
    count = rebuild(here)
    click.echo(f"files of {counted(count, 'task')} written from the journal")
    if calls := put_back(here):
        click.echo(f"{counted(calls, 'call')} put back into the books (afresh spend)")
