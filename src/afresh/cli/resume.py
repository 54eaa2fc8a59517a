"""`afresh resume`: go on with a task that was interrupted."""

import click

from afresh.cli.common import json_option, model_option, no_sandbox_option, quiet_option


@click.command()
@click.argument("task", required=False)
@model_option
@no_sandbox_option
@quiet_option
@json_option
def command(task: str | None, model: str, no_sandbox: bool, quiet: bool, as_json: bool) -> None:
    """Go on with TASK (the one touched last, if none is named)."""
    from afresh.app.tasks import find
    from afresh.cli.common import desk
    from afresh.cli.working import work_and_tell

    here = desk()
    work_and_tell(here, find(here, task), model=model, no_sandbox=no_sandbox, quiet=quiet, as_json=as_json)
