"""`afresh rebuild`: make all projections again from the journals."""

import click


@click.command()
def command() -> None:
    """Delete session files, decision logs and other views, and write them again from the journal.

    Calls missing from the spending ledger are restored, too.
    """
    from afresh.app.project import rebuild_views
    from afresh.app.repair_spending_ledger import restore_missing_calls
    from afresh.cli.options import open_current_project
    from afresh.views.task_status import format_count

    here = open_current_project()
    count = rebuild_views(here)
    click.echo(f"rewrote the files of {format_count(count, 'task')}")
    if calls := restore_missing_calls(here):
        click.echo(f"restored {format_count(calls, 'call')} in the spending ledger")
