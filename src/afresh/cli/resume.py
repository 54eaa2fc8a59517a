"""`afresh resume`: go on with a task that was interrupted."""

import click

from afresh.cli.common import model_option, add_run_options


@click.command()
@click.argument("task", required=False)
@model_option
@add_run_options
def command(task: str | None, **way) -> None:
    """Go on with TASK (the one touched last, if none is named)."""
    from afresh.app.tasks import find_task
    from afresh.cli.common import open_current_project
    from afresh.cli.working import RunFlags, run_and_report

    here = open_current_project()
    run_and_report(here, find_task(here, task), RunFlags(**way))
