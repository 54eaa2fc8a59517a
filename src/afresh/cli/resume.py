"""`afresh resume`: go on with a task that was interrupted."""

import click

from afresh.cli.common import model_option, run_options


@click.command()
@click.argument("task", required=False)
@model_option
@run_options
def command(task: str | None, **way) -> None:
    """Go on with TASK (the one touched last, if none is named)."""
    from afresh.app.tasks import find
    from afresh.cli.common import desk
    from afresh.cli.working import Way, work_and_tell

    here = desk()
    work_and_tell(here, find(here, task), Way(**way))
