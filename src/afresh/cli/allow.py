"""`afresh allow`: let a task change tests."""

import click

from afresh.cli.options import json_option, open_current_project
from afresh.cli.output import print_json


@click.command("allow")
@click.argument("task")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@json_option
def command(task: str, paths: tuple[str, ...], as_json: bool) -> None:
    """Let TASK change these test files, folders, single tests (PATH::TEST) or configuration files.

    The verdict names what it changed. If the task asks about tests, this answers it.
    """
    from afresh.app.allow_test_changes import allow_test_changes
    from afresh.app.tasks import find_task
    from afresh.core.codec import to_plain_value
    from afresh.core.task import TaskStatus

    project = open_current_project()
    state = allow_test_changes(project, find_task(project, task), paths)
    if as_json:
        licence = to_plain_value(state.verification.licence)
        return print_json({"task": state.task.id, "status": state.status.value, "licence": licence})
    click.echo(f"{state.task.id} may change {', '.join(paths)}")
    asks = state.status is TaskStatus.BLOCKED
    return click.echo("it has an open question: afresh inbox" if asks else f"`afresh resume {state.task.id}` continues it")
