"""`afresh rebuild`: make all projections again from the journals."""

import click


@click.command()
def command() -> None:
    """Delete session files, decision logs and the like, and write them again from the journal. Calls that the books of what is
    spent do not know are put back."""
    from afresh.app.project import rebuild_views
    from afresh.app.repair_spending_ledger import restore_missing_calls
    from afresh.cli.options import open_current_project
    from afresh.views.task_status import format_count

    here = open_current_project()
    count = rebuild_views(here)
    click.echo(f"files of {format_count(count, 'task')} written from the journal")
    if calls := restore_missing_calls(here):
        click.echo(f"{format_count(calls, 'call')} put back into the books (afresh spend)")
