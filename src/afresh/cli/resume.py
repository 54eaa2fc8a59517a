"""`afresh resume`: go on with a task that was interrupted."""

import click

from afresh.cli.options import add_run_options, model_option


@click.command()
@click.argument("task", required=False)
@model_option
@add_run_options
def command(task: str | None, **way) -> None:
    """Continue TASK (default: the latest)."""
    from afresh.app.tasks import find_task
    from afresh.cli.options import open_current_project
    from afresh.cli.run_with_progress import RunFlags, run_and_report

    here = open_current_project()
    run_and_report(here, find_task(here, task), RunFlags(**way))
